"""Make the contract our own.

acme@v1 is evalspec@v3 written out in full, under our own marker. Records are stamped, and nothing else changes.

Revision: v1
Revises: evalspec@v3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.migrate import Recorder

revision = "v1"
down_revision = "evalspec@v3"
prompts = "unchanged"
outputs = "unchanged"


def upgrade(op: Recorder) -> None:
    """From evalspec@v3 to acme@v1."""
    # the contract
    for shape in ("inline", "template"):
        op.field("spec_version", type="text 'acme@v1'", required=True, shape=shape, changed="the marker")
    # the records
    op.set("spec_version", "acme@v1", first=True)
