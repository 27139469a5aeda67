"""The parts of a template task's prompt, each with its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.parts import TurnOrigins, system_parts, turn_parts
from evalspec.prompts.prompt import Origin, Part, parts_in_template

if TYPE_CHECKING:
    from evalspec.prompts.template import Context, Row, TemplateTask
    from evalspec.prompts.view import View


def context_parts(
    task: TemplateTask, row: Row, context: Context, view: View, number: int
) -> tuple[Part, ...]:
    """The parts of one row's prompt; joined they are its text (the first, where there are several)."""
    config, few = task.config, task.few
    folded = view.chat is None or not view.multiturn
    join = _setting(task, "target_delimiter")
    separator = _setting(task, "fewshot_delimiter")
    described = _field(task, config.description, "description", row.doc, row=number)
    parts = system_parts(view.system, row.description, config.fewshot_delimiter, described, separator)
    for order, at in enumerate(row.shots):
        shot = task.shot(at)
        source = task.pool[at]  # type: ignore[index]
        origins = TurnOrigins(
            _shot_field(task, "doc_to_text", source, order, at),
            _shot_field(task, "doc_to_choice" if shot.c else "doc_to_target", source, order, at),
            _shot_setting(task, "target_delimiter", order),
            _shot_setting(task, "fewshot_delimiter", order),
            _shot_field(task, "gen_prefix", source, order, at),
        )
        parts += turn_parts(
            origins,
            shot.q,
            shot.c,
            shot.a,
            shot.gen_prefix,
            tgt_delim=few.target_delimiter,
            few_delim=few.fewshot_delimiter,
            delimited=folded,
        )
    asked = "doc_to_choice" if task.multiple_input else "doc_to_text"
    own = TurnOrigins(
        _field(task, getattr(config, asked), asked, row.doc, row=number),
        Origin(),
        join,
        separator,
        _field(task, config.gen_prefix, "gen_prefix", row.doc, row=number),
    )
    parts += turn_parts(
        own,
        context.turns[0],
        gen_prefix=row.gen_prefix,
        tgt_delim="" if task.multiple_input else config.target_delimiter,
        few_delim="",
        delimited=view.chat is None,
    )
    if view.chat is None:
        return tuple(parts)
    text = context.text if isinstance(context.text, str) else context.text[0]
    return parts_in_template(text, parts)


def _field(
    task: TemplateTask,
    spec: Any,
    key: str,
    doc: dict[str, Any],
    *,
    shot: int | None = None,
    row: int | None = None,
) -> Origin:
    column = spec if isinstance(spec, str) and spec in doc and task.fields.prompt is None else None
    if task.fields.prompt is not None and key.rpartition(".")[2].startswith("doc_to_"):
        key = "use_prompt"
    return Origin(key=key, column=column, shot=shot, row=row)


def _shot_field(task: TemplateTask, key: str, doc: dict[str, Any], order: int, at: int) -> Origin:
    few, own = getattr(task.few, key), getattr(task.config, key)
    overridden = _overrides(task, key)
    spec = own if few is None else few
    return _field(task, spec, f"fewshot_config.{key}" if overridden else key, doc, shot=order, row=at)


def _shot_setting(task: TemplateTask, key: str, order: int) -> Origin:
    if _overrides(task, key):
        return Origin(key=f"fewshot_config.{key}", shot=order)
    return _setting(task, key)._replace(shot=order)


def _overrides(task: TemplateTask, key: str) -> bool:
    given = task.config.fewshot_config
    if isinstance(given, dict):
        return given.get(key) is not None
    return bool(getattr(task.few, key) != getattr(task.config, key))


def _setting(task: TemplateTask, key: str) -> Origin:
    return Origin(key=key) if key in task.config.given else Origin(rule=f"{key}: the default")
