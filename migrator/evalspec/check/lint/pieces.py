"""A task file as lint sees it: its values in order, each with what it is for, how it is written and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalspec.errors import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalspec.formats.yaml import YamlFile

#: `template` is rendered by Jinja, `text` is shown as it stands, `stop` ends a generation; all else has no role.
Role = Literal["template", "text", "stop", ""]
Step = str | int

#: Fields of a task, by what a model sees of them (prompting.md, "Field dispatch"). A list's items are texts.
TEMPLATES = frozenset(["doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix"])
TEXTS = frozenset(["target_delimiter", "fewshot_delimiter", "prompt", "choices"])
_HOLDERS = frozenset(["fewshot_config", "fewshot"])
EXAMPLES = frozenset(["samples", "few_shot_examples"])
_GENERATION = frozenset(["generation_kwargs", "generation"])
#: The keys at the top of a file behind which a model may see something.
_SHOWN = TEMPLATES | TEXTS | _HOLDERS | EXAMPLES | _GENERATION | {"task"}

_CORE = "tag:yaml.org,2002:"
_STR = f"{_CORE}str"


class Piece(NamedTuple):
    """A value of a file that is neither a list nor a mapping.

    Attributes:
        path: the keys and positions that lead to it.
        role: what a model sees of it.
        value: the text as it is read, before YAML makes a number or a truth value of it.
        tag: the kind that YAML takes it for (`str`, `bool`, `int`, `!function`).
        style: the quote it is written with (`'`, `"`, `|`, `>`); empty where there is none.
        at: where it stands: its node, or its place.
    """

    path: tuple[Step, ...]
    role: Role
    value: str
    tag: str
    style: str
    at: Any

    @property
    def field(self) -> str:
        """The path as it is written in a finding."""
        return dotted(self.path)


class LintFile:
    """One mapping of a file, taken apart: a task file of lm-eval, or one record of ours.

    Attributes:
        path: the file as it is shown.
        task: the record's id, where it is one of ours.
        text: what the file, or the record's line, is written as.
        yaml: the file it is in, where that is YAML.
        root: the mapping's node, where it is YAML.
        pieces: the values, in the order of the file.
        keys: the node of every key, by its path; of a key that stands twice the last one.
        has_twice: some key stands twice in one mapping.
    """

    def __init__(self, path: str, text: str, task: str | None = None, *, inline: bool = False) -> None:
        self.path = path
        self.text = text
        self.task = task
        self.yaml: YamlFile | None = None
        self.root: Any = None
        self.pieces: list[Piece] = []
        self.keys: dict[tuple[Step, ...], Any] = {}
        self.has_twice = False
        #: An inline task has no templates: what would be one is shown as it stands.
        self._inline = inline

    @classmethod
    def of_yaml(cls, path: str, file: YamlFile, *, own: bool = False) -> Iterator[LintFile]:
        """Each mapping of a YAML file, at its top or in a list there; `own` says that they are records of ours."""
        for document in file.documents:
            for root in document.value if document.id == "sequence" else [document]:
                if root.id == "mapping":
                    names = {key.value: value.value for key, value in root.value if key.id == "scalar"}
                    task = names.get("task_id") if own else None
                    made = cls(path, file.source.text, task, inline=own and "dataset" not in names)
                    made.yaml, made.root = file, root
                    made._walk(root, (), "")
                    yield made

    @classmethod
    def of_record(
        cls, path: str, record: dict[str, Any], place_of: Callable[[str], Place], *, inline: bool
    ) -> LintFile:
        """A record of a JSONL file, whose texts are all in double quotes."""
        made = cls(path, "", record["task_id"], inline=inline)
        made._take(record, (), "", place_of)
        return made

    def place(self, node: Any) -> Place:
        """Where a node stands."""
        assert self.yaml is not None
        return Place(self.path, *self.yaml.source.mark_place(node.start_mark))

    def at(self, piece: Piece) -> Place:
        """Where a value stands."""
        return piece.at if isinstance(piece.at, Place) else self.place(piece.at)

    def _role(self, path: tuple[Step, ...]) -> Role:
        role = role_of(path)
        return "text" if role == "template" and self._inline else role

    def _walk(self, node: Any, path: tuple[Step, ...], role: Role) -> None:
        kind = node.id
        if kind == "mapping":
            for key, value in node.value:
                here = (*path, key.value if key.id == "scalar" else "?")
                self.has_twice = self.has_twice or here in self.keys
                self.keys[here] = key
                self._walk(value, here, role or (self._role(here) if here[0] in _SHOWN else ""))
        elif kind == "sequence":
            below: Role = "text" if role == "template" else role
            for at, value in enumerate(node.value):
                self._walk(value, (*path, at), below)
        else:
            tag = node.tag
            tag = "str" if tag == _STR else tag.removeprefix(_CORE)
            self.pieces.append(Piece(path, role, node.value, tag, node.style or "", node))

    def _take(self, value: Any, path: tuple[Step, ...], role: Role, place_of: Callable[[str], Place]) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                self._take(each, (*path, key), role or self._role((*path, key)), place_of)
        elif isinstance(value, list):
            below: Role = "text" if role == "template" else role
            for at, each in enumerate(value):
                self._take(each, (*path, at), below, place_of)
        elif isinstance(value, str) and role:
            self.pieces.append(Piece(path, role, value, "str", '"', place_of(dotted(path))))


def role_of(path: tuple[Step, ...]) -> Role:
    """What a model sees of the value behind a path."""
    steps = path
    while len(steps) > 2 and steps[0] == "task" and isinstance(steps[1], int):
        steps = steps[2:]  # an item of a group, with keys of a task
    first, depth = steps[0], len(steps)
    if first in _HOLDERS and depth > 1:
        steps, depth = steps[1:], depth - 1
        first = steps[0]
    if depth == 1:
        if first in TEMPLATES:
            return "template"
        return "text" if first in TEXTS else ""
    if first in EXAMPLES:
        return "text"
    return "stop" if first in _GENERATION and steps[1] == "until" else ""


def dotted(path: tuple[Step, ...]) -> str:
    """`fewshot_config.samples[0].question`."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out


#: What begins a piece of Jinja, and what ends it.
_JINJA = {"{{": "}}", "{%": "%}", "{#": "#}"}


def outside_jinja(text: str) -> str:
    """A text without its Jinja: a space in place of each expression, statement and comment."""
    return mapped_outside(text, lambda piece: piece, " ")


def mapped_outside(text: str, change: Callable[[str], str], jinja: str | None = None) -> str:
    """A text in which what stands outside of its Jinja is changed.

    Args:
        text: the text.
        change: makes of a piece another one.
        jinja: what stands in place of each expression, statement and comment; they themselves unless it is said.
    """
    out: list[str] = []
    at = done = 0
    endless: set[str] = set()
    while (at := text.find("{", at)) >= 0:
        opened = text[at : at + 2]
        closing = _JINJA.get(opened)
        end = -1 if closing is None or opened in endless else text.find(closing, at + 2)
        if end < 0:
            endless.add(opened)  # it is not looked for again, or a text of braces alone would take for ever
            at += 1
            continue
        out += [change(text[done:at]), text[at : end + 2] if jinja is None else jinja]
        at = done = end + 2
    return "".join([*out, change(text[done:])])
