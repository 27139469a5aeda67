"""Task files read as records of some version: each record judged, each fault with its place.

validate_path(path, reading) → FileReport
"""

from evalspec.tasks.validate import FileReport, Reading, format_of, validate_path, validate_paths

__all__ = ["FileReport", "Reading", "format_of", "validate_path", "validate_paths"]
