"""The task rules run over the tasks of a tree: each different task once under each view."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalspec.check.lint.remark import Remark
from evalspec.check.lint.rows import once, rendered, unbuilt
from evalspec.check.lint.shots import settings
from evalspec.check.lint.variables import Names, misspelt, templates_of, undefined
from evalspec.prompts.config import TaskConfig, task_config
from evalspec.prompts.docs import docs_of
from evalspec.prompts.placeholder import placeholder_rows
from evalspec.prompts.problems import Unknown
from evalspec.prompts.template import TemplateTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View

#: Settings that no rule of a single task looks at.
_APART = frozenset(
    "task task_alias tag dataset_name dataset_kwargs metadata metric_list filter_list repeats process_results"
    " should_decontaminate doc_to_decontamination_query unsafe_code".split()  # noqa: SIM905 - one line
)
_PLAIN = (str, int, float, bool, type(None))


class TaskLint:
    """Looks at tasks. What two tasks have in common is looked at once.

    Args:
        views: how tasks are shown.
        rows: where rows come from; None for made-up ones.
        sandbox: renders templates.
    """

    def __init__(self, views: Sequence[View], rows: RowOptions | None, sandbox: Sandbox) -> None:
        self._views = views
        self._rows = rows
        self._sandbox = sandbox
        self._names = Names(sandbox)
        self._siblings: dict[str, Counter[str]] = {}
        self._seen_templates: set[tuple[str, str]] = set()
        self._known: dict[Any, list[Remark]] = {}
        self._kept: list[Any] = []

    def learn(self, given: Mapping[str, Any]) -> None:
        """Note which names the templates of a task use, for its siblings of the same data set."""
        data_set = str(given.get("dataset_path"))
        for key in ("doc_to_text", "doc_to_target", "doc_to_choice"):
            value = given.get(key)
            if isinstance(value, str) and "{" in value and (data_set, value) not in self._seen_templates:
                self._seen_templates.add((data_set, value))
                self._siblings.setdefault(data_set, Counter()).update(self._names.of(value))

    def remarks(self, name: str, given: Mapping[str, Any], config: TaskConfig | None = None) -> list[Remark]:
        """What there is to say of a task.

        Args:
            name: the task's name, under which rows are looked for.
            given: its settings as they stand in the files.
            config: the same with every default; made from `given` where it is not given.
        """
        key = None
        if self._rows is None or self._rows.source is None:
            key = tuple(
                (each, value if isinstance(value, _PLAIN) else id(value))
                for each, value in given.items()
                if each not in _APART
            )
            found = self._known.get(key)
            if found is not None:
                return found
            self._kept.append(given)  # so that no number of an object is given out twice
        try:
            config = config or task_config(given)
        except Exception:  # noqa: BLE001 - settings that the harness refuses are told of by the rules of keys
            return []
        made = once(self._of(name, given, config))
        if key is not None:
            self._known[key] = made
        return made

    def _of(self, name: str, given: Mapping[str, Any], config: TaskConfig) -> Iterable[Remark]:
        columns: Sequence[str] = ()
        for view in self._views:
            yield from settings(config, given, view)
            if config.use_prompt is not None:
                continue
            try:
                task, features = self._built(name, config, view)
            except Unknown:
                continue
            except Exception as problem:  # noqa: BLE001 - what the harness would raise when it builds the task
                yield from unbuilt(problem, config, made_up=self._rows is None)
                continue
            columns = features or columns
            shown = view if view.shots is not None else replace(view, shots=1) if task.made_up else view
            yield from rendered(task, shown)
        if columns:
            yield from undefined(config, self._names, columns)
        else:
            yield from misspelt(config, self._names, self._siblings)

    def _built(self, name: str, config: TaskConfig, view: View) -> tuple[TemplateTask, Sequence[str]]:
        """The task over its rows, with their columns; over a made-up row, and no columns, where there are none."""
        if self._rows is not None and self._rows.source is not None:
            data = docs_of(name, config, self._rows.source, are_docs=self._rows.are_docs)
            if isinstance(data.docs, Unknown):
                raise data.docs
            if data.docs:
                task = TemplateTask(config, data.docs, data.features, data.pool, self._sandbox)
                return task, data.features
        if config.eval_split is None and not templates_of(config):
            raise Unknown("the task has no split to evaluate")
        shots = min(max(view.shots or 0, config.num_fewshot or 0, 1), 2)
        if config.num_fewshot:
            config = replace(config, num_fewshot=shots)
        row, pool = placeholder_rows(config, self._sandbox, shots)
        samples = config.fewshot.samples
        given = samples if config.fewshot.split is None and isinstance(samples, list) and samples else None
        made: Any = given if given is not None else pool
        task = TemplateTask(config, [row], tuple(row), made[:2] if given is not None else made, self._sandbox, in_order=True)
        return task, ()
