"""The task rules run over the tasks of a tree: each different task once under each view."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalspec.check.lint.patterns import missed
from evalspec.check.lint.rows import once, rendered, unbuilt
from evalspec.check.lint.shots import settings
from evalspec.check.lint.variables import Names, misspelt, undefined
from evalspec.prompts.config import TaskConfig, task_config
from evalspec.prompts.docs import docs_of
from evalspec.prompts.placeholder import placeholder_rows
from evalspec.prompts.problems import FunctionRef, Unknown
from evalspec.prompts.template import TemplateTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalspec.check.lint.remark import Remark
    from evalspec.prompts.docs import Docs
    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View

#: Settings that no rule of a single task looks at.
_APART = frozenset(
    [
        *(
            "task",
            "task_alias",
            "tag",
            "dataset_name",
            "dataset_kwargs",
            "metadata",
            "metric_list",
        ),
        *(
            "repeats",
            "process_results",
            "should_decontaminate",
            "doc_to_decontamination_query",
            "unsafe_code",
        ),
    ]
)
#: So many of a task's own examples are looked at.
_SAMPLES = 10
#: So many examples are made up at most.
_MADE_UP = 2
#: An answer of which nothing is known.
_SOME = "⟨answer⟩"
#: The fields that made-up rows are made from.
_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice", "doc_to_image", "doc_to_audio", "gen_prefix")
_OVERRIDES = ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix")
#: The settings that say which rows a task has.
_ROW_KEYS = ("dataset_path", "dataset_name", "dataset_kwargs", "validation_split", "test_split")
_PLAIN = (str, int, float, bool, type(None))


def _alike(value: Any) -> Any:
    """What two settings have in common if they are as good as the same: no function is run, whichever it is."""
    if isinstance(value, FunctionRef):
        return FunctionRef
    return value if isinstance(value, _PLAIN) else id(value)


def _never_empty(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The answer of a made-up example; one that nothing can be made of is there all the same."""

    def answer(doc: Any) -> Any:
        try:
            found = read(doc)
        except Exception:  # noqa: BLE001 - a function, or a template that wants more of a row
            found = None
        return _SOME if found is None or found == "" else found

    return answer


def _shown_answers(task: TemplateTask) -> list[str]:
    """The answers of the examples that the task's own file holds."""
    samples = task.few.samples
    if (
        task.config.output_type != "generate_until"
        or task.pool is not samples
        or not isinstance(samples, list)
    ):
        return []
    answers = []
    for at in range(min(len(samples), _SAMPLES)):
        try:
            answer = task.shot(at).a
        except Exception:  # noqa: BLE001 - an example that fails is told of where it is rendered
            return []
        if not isinstance(answer, str) or not answer:
            return []
        answers.append(answer)
    return answers


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
        self._rows_made: dict[Any, tuple[dict[str, Any], list[dict[str, Any]]]] = {}

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
        if config is not None:
            return once(self._of(given, config, self._data(name, config)))
        key = tuple([(each, _alike(value)) for each, value in given.items() if each not in _APART])
        has_rows = self._has_rows(name, given)
        found = self._known.get(key)
        if found is not None and not has_rows:
            return found
        try:
            config = task_config(given)
            made = once(self._of(given, config, self._data(name, config) if has_rows else None))
        except Exception:  # noqa: BLE001 - settings that the harness refuses are told of by the rules of keys
            made = []
        if not has_rows:
            self._kept.append(given)  # so that the number of an object is not given out again
            self._known[key] = made
        return made

    def _has_rows(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether any source may have rows of a task; told without all of its settings."""
        if self._rows is None or self._rows.source is None:
            return False
        few = {key: given[key] for key in _ROW_KEYS if key in given}
        config = TaskConfig(**few)
        split = config.eval_split
        if not isinstance(split, str):
            return False
        try:
            return self._rows.source.split(name, config, split) is not None
        except Exception:  # noqa: BLE001 - rows that cannot be read are told of where they are rendered
            return False

    def _data(self, name: str, config: TaskConfig) -> Docs | None:
        """A task's rows and pool; None where there are no rows, or they cannot be known."""
        if self._rows is None or self._rows.source is None:
            return None
        try:
            data = docs_of(name, config, self._rows.source, are_docs=self._rows.are_docs)
        except Exception:  # noqa: BLE001 - as above
            return None
        return data if data.docs and not isinstance(data.docs, Unknown) else None

    def _of(self, given: Mapping[str, Any], config: TaskConfig, data: Docs | None) -> Iterable[Remark]:
        for view in self._views:
            yield from settings(config, given, view)
            if config.use_prompt is not None:
                continue
            try:
                task = self._built(config, data, view)
            except Unknown:
                continue
            except Exception as problem:  # noqa: BLE001 - what the harness would raise when it builds the task
                yield from unbuilt(problem, config, made_up=data is None)
                continue
            shown = view
            if task.made_up:
                # One example shows its joins even where a view has none yet; two show all there are to see.
                shown = replace(view, shots=1 if view.shots is None else min(view.shots, _MADE_UP))
            yield from rendered(task, shown)
            yield from missed(config, _shown_answers(task), self._sandbox.watch)
        if data is not None:
            yield from undefined(config, self._names, data.features)
        else:
            yield from misspelt(config, self._names, self._siblings)

    def _built(self, config: TaskConfig, data: Docs | None, view: View) -> TemplateTask:
        """The task over its rows, or over a made-up one where there are none."""
        if data is not None and data.docs is not None and not isinstance(data.docs, Unknown):
            return TemplateTask(config, data.docs, data.features, data.pool, self._sandbox)
        shots = min(max(view.shots or 0, config.num_fewshot or 0, 1), _MADE_UP)
        if config.num_fewshot:
            config = replace(config, num_fewshot=shots)
        row, pool = self._made_up(config, shots)
        samples = config.fewshot.samples
        given = config.fewshot.split is None and isinstance(samples, list) and len(samples) >= shots
        made = TemplateTask(
            config, [row], tuple(row), samples if given else pool, self._sandbox, in_order=True
        )
        if not given and config.fewshot.doc_to_target != "":
            made.shot_target = _never_empty(made.shot_target)
        return made

    def _made_up(self, config: TaskConfig, shots: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Made-up rows, the same ones for all tasks with the same templates."""
        few = config.fewshot
        fields = [getattr(config, field) for field in _FIELDS] + [getattr(few, field) for field in _OVERRIDES]
        fields.append(config.description if "{" in str(config.description) else None)
        key = (shots, *map(repr, fields))
        found = self._rows_made.get(key)
        if found is None:
            found = self._rows_made[key] = placeholder_rows(config, self._sandbox, shots)
        return found
