"""Where files come from: which task files are meant, told from everything that lies beside them.

select(paths) → Selection            looks_like(path) → "evalspec", "lm-eval" or None
"""

from evalspec.tree.patterns import start_of
from evalspec.tree.select import Selected, Selection, select
from evalspec.tree.sniff import Format, Kind, format_of, looks_like, looks_like_bytes, sniff_format
from evalspec.tree.walk import Skipped

__all__ = [
    "Format",
    "Kind",
    "Selected",
    "Selection",
    "Skipped",
    "format_of",
    "looks_like",
    "looks_like_bytes",
    "select",
    "sniff_format",
    "start_of",
]
