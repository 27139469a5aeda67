"""Rendering inside the process that runs a tree's functions."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalspec.prompts.chat import ChatTemplate
from evalspec.prompts.config import task_config
from evalspec.prompts.lm_eval.codec import decoded
from evalspec.prompts.lm_eval.groups import ResolvedTask
from evalspec.prompts.lm_eval.trust import said_of
from evalspec.prompts.problems import FunctionRef, Unknown
from evalspec.prompts.record_lines import columns_of
from evalspec.prompts.rows import FirstOf, LocalCache, OwnFiles, RowsFile, RowsFolder
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.tasks import LM_EVAL, RowOptions, TaskSpec, render_tasks
from evalspec.prompts.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.prompts.config import TaskConfig

_IN_PROMPTS = (
    "process_docs",
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "doc_to_image",
    "doc_to_audio",
)
_IN_FEWSHOT = (
    "process_docs",
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "samples",
    "sampler",
    "gen_prefix",
)


class CustomData:
    """The data set that a task's own function makes (`custom_dataset`)."""

    def split(self, _task: str, config: TaskConfig, split: str) -> Sequence[dict[str, Any]] | None:
        """The rows of a split of what the function returns."""
        make = config.custom_dataset
        if make is None or isinstance(make, FunctionRef):
            return None
        made = make(**(config.metadata or {}), **(config.dataset_kwargs or {}))
        return list(made[split])


class TrustedTree:
    """Renders tasks of one tree with their functions."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.root = setup["root"]
        package = package_above(self.root)
        if package is not None:
            sys.path.insert(0, package)
        if importlib.util.find_spec("datasets") is None:
            from evalspec.prompts.lm_eval.look_alike import Dataset, install

            install()
            self.as_dataset: Any = Dataset.from_list
        else:
            self.as_dataset = _real_dataset
        kinds = {"file": RowsFile, "folder": RowsFolder}
        sources: list[Any] = [kinds[kind](path) for kind, path in setup["rows"]]
        if not setup["are_docs"]:
            sources += [CustomData(), OwnFiles(tuple(setup["roots"])), LocalCache()]
        self.options = RowOptions(
            FirstOf(tuple(sources)), are_docs=setup["are_docs"], as_dataset=self.as_dataset
        )
        self.sandbox = Sandbox()

    def render(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The lines of one task under one view."""
        said = message["task"]
        settings = decoded(said["settings"])
        task = ResolvedTask(said["name"], said["path"], said["root"], settings)
        metadata = settings.get("metadata")
        version = metadata["version"] if isinstance(metadata, dict) and "version" in metadata else "Yaml"

        def read() -> TaskConfig:
            return task_config(self.with_functions(settings))

        spec = TaskSpec(str(task.name), LM_EVAL, version, read)
        for row in render_tasks([spec], [view_of(message["view"])], self.options, sandbox=self.sandbox):
            columns = columns_of(spec.name, read, self.options) if row.error is not None else ()
            yield said_of(row, columns)

    def with_functions(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings with every function that a prompt can depend on in the place of its name."""
        made = dict(settings)
        for key in (*_IN_PROMPTS, "custom_dataset"):
            if isinstance(made.get(key), FunctionRef):
                made[key] = self.function(made[key], key)
        few = made.get("fewshot_config")
        if isinstance(few, dict):
            few = made["fewshot_config"] = dict(few)
            for key in _IN_FEWSHOT:
                if isinstance(few.get(key), FunctionRef):
                    few[key] = self.function(few[key], f"fewshot_config.{key}")
        return made

    def function(self, named: FunctionRef, field: str) -> Any:
        """The function itself: from the module beside the file that names it, else from one that can be imported.

        Raises:
            Unknown: its module needs a package that is not installed.
            AttributeError: the module has no such name.
        """
        path = Path(self.root, named.file).resolve()
        try:
            if path.is_file():
                return getattr(_module(path), named.name)
            return getattr(importlib.import_module(named.module), named.name)
        except ImportError as problem:
            raise Unknown(f"the function {named.spec} cannot be loaded here: {problem}", field) from problem


def package_above(root: str) -> str | None:
    """The folder that holds the `lm_eval` package the tree is part of, if it is part of one."""
    path = Path(root).resolve()
    for folder in (path, *path.parents):
        if folder.name == "lm_eval" and (folder / "__init__.py").is_file():
            return str(folder.parent)
    return None


def _module(path: Path) -> Any:
    """A module by its file, under the name that the harness gives it; loaded once."""
    text = str(path)
    at = text.find("/lm_eval/tasks/")
    name = str(path.with_suffix(""))
    if at >= 0:
        name = "lm_eval.tasks." + text[at + len("/lm_eval/tasks/") :].replace(".py", "").replace("/", ".")
    found = sys.modules.get(name)
    if found is not None and getattr(found, "__file__", None) == text:
        return found
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module can be read from {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def _real_dataset(rows: Sequence[dict[str, Any]]) -> Any:
    return importlib.import_module("datasets").Dataset.from_list(list(rows))


def view_of(message: dict[str, Any]) -> View:
    """The view that the parent named."""
    chat = message.pop("chat", None)
    return View(**message, chat=ChatTemplate(**chat) if chat else None)
