"""`python -m evalspec`: the same command as the installed script."""

from __future__ import annotations

import sys

from evalspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
