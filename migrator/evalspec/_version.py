"""The tool's own version, written down once: the build reads it here, and so does `evalspec --version`.

Reading it from the installed distribution's metadata would cost more time than the rest of `--version`.
"""

from __future__ import annotations

__version__ = "0.1.0"
