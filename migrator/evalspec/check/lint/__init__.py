"""Lint: what is wrong, or easily goes wrong, in task files that every loader reads without a word.

Each module holds the rules of one kind beside the functions that look for them; `evalspec.check.rules` has them all.

* `lint_tree`: the findings of trees of lm-eval YAML; `lint_records`: those of judged task files of our own contract.
* `mend_files`: mends what is safe to mend.
"""

from evalspec.check.lint.fixing import Mended, mend_files
from evalspec.check.lint.records import lint_records
from evalspec.check.lint.run import lint_tree

__all__ = ["Mended", "lint_records", "lint_tree", "mend_files"]
