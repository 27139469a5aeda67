"""From a source of tasks to rendered rows: what `evalspec render` prints for template tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalspec.errors import FormatError, UsageError
from evalspec.prompts.config import record_config, task_config
from evalspec.prompts.docs import docs_of
from evalspec.prompts.lm_eval.prompts_library import named_prompt
from evalspec.prompts.placeholder import placeholder_rows
from evalspec.prompts.problems import Unknown, failure_of
from evalspec.prompts.render import RenderedRow, TaskLabel, render_template
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.template import TemplateTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalspec.errors import Place
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.rows import RowSource
    from evalspec.prompts.view import View

LM_EVAL = "lm-eval@0.4.13"
_CLASS = (
    "the task is a Python class, which makes its prompts with the harness's own code; there is no template to render, "
    "so --trust-code does not help"
)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A template task before it has rows.

    Attributes:
        name: the task's name.
        schema: its schema version (`lm-eval@0.4.13`, `evalspec@v3`).
        version: its own version.
        read: gives its settings; raises what the harness raises where they are wrong.
        global_draws: examples are drawn over all rows in order, whatever the rank.
        place_of: finds a field's place in its file.
        impossible: why no prompt of it can be known (a task that is a Python class).
    """

    name: str
    schema: str
    version: Any
    read: Callable[[], TaskConfig]
    global_draws: bool = False
    place_of: Callable[[str], Place | None] | None = None
    impossible: str | None = None


@dataclass(frozen=True, slots=True)
class RowOptions:
    """Where rows come from, and what they are.

    Attributes:
        source: the rows; None for placeholder rows everywhere.
        are_docs: they are what `process_docs` gives already.
        placeholders: a task without rows is shown with made-up ones; else it is unknown.
        as_dataset: makes what a trusted `process_docs` is called with.
        limit_placeholders: how many made-up rows are shown.
    """

    source: RowSource | None = None
    are_docs: bool = False
    placeholders: bool = True
    as_dataset: Callable[[Sequence[dict[str, Any]]], Any] | None = None


def lm_eval_spec(task: ResolvedTask, place_of: Callable[[str], Place | None] | None = None) -> TaskSpec:
    """A task of an lm-eval tree."""
    metadata = task.settings.get("metadata")
    version = metadata["version"] if isinstance(metadata, dict) and "version" in metadata else "Yaml"
    impossible = _CLASS if task.is_class else None

    def read() -> TaskConfig:
        if task.broken is not None:
            raise task.broken
        return task_config(task.settings)

    return TaskSpec(str(task.name), LM_EVAL, version, read, False, place_of, impossible)


def record_spec(
    record: Mapping[str, Any],
    schema: str = "evalspec@v3",
    place_of: Callable[[str], Place | None] | None = None,
) -> TaskSpec:
    """A template task of our own family, from its valid record."""
    return TaskSpec(
        str(record["task_id"]), schema, record.get("version"), lambda: record_config(record), True, place_of
    )


def render_tasks(
    specs: Iterable[TaskSpec],
    views: Sequence[View],
    rows: RowOptions | None = None,
    *,
    parts: bool = True,
    sandbox: Sandbox | None = None,
) -> Iterator[RenderedRow]:
    """Every row that each view shows of every task. A task that fails never stops the others.

    A task's load error, an error of the harness for a row, and what cannot be known are lines like any other.
    """
    sandbox = sandbox or Sandbox()
    options = rows or RowOptions()
    with sandbox.watch:
        for spec in specs:
            for view in views:
                yield from render_task(spec, view, options, sandbox, parts=parts)


def render_task(
    spec: TaskSpec, view: View, options: RowOptions, sandbox: Sandbox, *, parts: bool = True
) -> Iterator[RenderedRow]:
    """The rows of one task under one view."""
    label = TaskLabel(spec.name, spec.schema, spec.version)
    if spec.impossible:
        yield RenderedRow(label, None, view.name, unknown=spec.impossible)
        return
    try:
        config = spec.read()
        label = replace(label, split=config.eval_split)
        task, label = build(config, spec, view, options, sandbox, label)
    except Unknown as unknown:
        yield RenderedRow(label, None, view.name, unknown=str(unknown), field=unknown.field)
        return
    except (FormatError, UsageError) as problem:
        reason = f"the rows cannot be read: {problem}"
        yield RenderedRow(label, None, view.name, unknown=reason, field="dataset_path")
        return
    except Exception as problem:  # noqa: BLE001 - whatever the harness would raise is an answer
        failure = failure_of(problem)
        yield RenderedRow(label, None, view.name, error=failure, field=failure.field)
        return
    if view.shots and config.num_fewshot == 0:
        note = f"{spec.name} has num_fewshot: 0, which is firm; the {view.shots} examples asked for are not shown"
        label = replace(label, notes=(note,))
    for line in render_template(task, label, view, parts=parts, place_of=spec.place_of):
        if label.placeholder and line.error is not None:
            error = line.error
            reason = f"there are no rows, and a made-up one does not fit ({error.type}: {error.message})"
            yield RenderedRow(label, line.row, view.name, unknown=reason, field=line.field)
        else:
            yield line


def build(
    config: TaskConfig, spec: TaskSpec, view: View, options: RowOptions, sandbox: Sandbox, label: TaskLabel
) -> tuple[TemplateTask, TaskLabel]:
    """A task with its rows, and what its lines say of it.

    Raises:
        Unknown: no prompt of it can be known.
        Exception: what the harness raises when it builds the task.
    """
    prompt = None
    if config.use_prompt is not None:
        prompt = named_prompt(config.use_prompt, config.dataset_path, config.dataset_name)
        if isinstance(prompt, Unknown):
            raise prompt
    data = docs_of(
        spec.name, config, options.source, are_docs=options.are_docs, as_dataset=options.as_dataset
    )
    if isinstance(data.docs, Unknown):
        raise data.docs
    common: dict[str, Any] = {"prompt": prompt, "global_draws": spec.global_draws}
    if data.docs is not None:
        task = TemplateTask(config, data.docs, data.features, data.pool, sandbox, **common)
        return task, label
    if not options.placeholders:
        raise Unknown(f"there are no rows of split {data.split!r}", "dataset_path")
    shots = max(view.shots or 0, config.num_fewshot or 0)
    row, pool = placeholder_rows(config, sandbox, shots, prompt)
    given = config.fewshot.split is None and isinstance(config.fewshot.samples, list)
    in_order = not given
    label = replace(label, placeholder=True)
    try:
        task = TemplateTask(
            config,
            [row],
            tuple(row),
            config.fewshot.samples if given else pool,
            sandbox,
            in_order=in_order,
            **common,
        )
    except Exception as problem:
        if isinstance(problem, Unknown):
            raise
        failure = failure_of(problem)
        raise Unknown(
            f"there are no rows, and a made-up one does not fit ({failure.type}: {failure.message})",
            failure.field,
        ) from problem
    return task, label
