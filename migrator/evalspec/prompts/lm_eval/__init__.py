"""Trees of lm-evaluation-harness YAML (lm_eval.md): read, resolved, and rendered.

An `Index` of a folder's `FolderFiles` holds its tasks, groups and tags; `requested` gives the tasks of a name;
`Places` says where each setting comes from; `Fingerprints` what a function is made of; `TrustedRenderer` runs them.
"""

from evalspec.prompts.lm_eval.files import Files, FolderFiles, MemoryFiles
from evalspec.prompts.lm_eval.functions import Fingerprints
from evalspec.prompts.lm_eval.groups import (
    BadGroup,
    ResolvedTask,
    check_requests,
    requested,
    resolve_task,
    selected,
)
from evalspec.prompts.lm_eval.index import GROUP, PYTHON_TASK, TAG, TASK, Entry, Index, Skipped
from evalspec.prompts.lm_eval.loader import Loader, LoadError
from evalspec.prompts.lm_eval.places import Places, ResolvedValue
from evalspec.prompts.lm_eval.trust import TrustedRenderer, TrustLimits

__all__ = [
    "GROUP",
    "PYTHON_TASK",
    "TAG",
    "TASK",
    "BadGroup",
    "Entry",
    "Files",
    "Fingerprints",
    "FolderFiles",
    "Index",
    "LoadError",
    "Loader",
    "MemoryFiles",
    "Places",
    "ResolvedTask",
    "ResolvedValue",
    "Skipped",
    "TrustLimits",
    "TrustedRenderer",
    "check_requests",
    "requested",
    "resolve_task",
    "selected",
]
