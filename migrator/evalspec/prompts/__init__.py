"""From a record to what the model sees.

`render_inline` and `text_of` serve inline tasks; `render_tasks` template tasks and trees of lm-eval YAML (see
`evalspec.prompts.lm_eval`); `record_lines` and `tree_lines` give the lines of `evalspec render`; `show_record` is one
record's prompt in a form that compares between versions.
"""

from evalspec.prompts.inline import render_inline, text_function, text_of
from evalspec.prompts.message import (
    Message,
    build_qa_turn,
    maybe_delimit,
    multiturn_to_singleturn,
    requires_delimiter,
)
from evalspec.prompts.prompt import Origin, Part, Prompt, Request
from evalspec.prompts.records import show_record
from evalspec.prompts.view import PLAIN, View

__all__ = [
    "PLAIN",
    "Message",
    "Origin",
    "Part",
    "Prompt",
    "Request",
    "View",
    "build_qa_turn",
    "maybe_delimit",
    "multiturn_to_singleturn",
    "render_inline",
    "requires_delimiter",
    "show_record",
    "text_function",
    "text_of",
]
