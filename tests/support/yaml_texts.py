"""Made-up YAML files: what the real task trees lack. Every style, comments wherever YAML lets one stand, CRLF, marks.

`Writer(rnd).file()` writes a random file. It knows nothing of how files are read or edited.
"""

from __future__ import annotations

import random
import string
from typing import Any

KEYS = ["task", "a", "b", "Key two", "é", "x-y", "yes", "1", "#h", "q'r", 'd"e', "😀", "longer_key_name"]
WORDS = [
    "one",
    "two words",
    "é",
    "😀 astral",
    "it's",
    'say "x"',
    "a: b",
    "x # y",
    "{{q}}",
    "yes",
    "010",
    "12:30",
    "-",
    "",
    "  lead",
    "tab\there",
    "[z",
    "*s",
    "&t",
    "!u",
    "%v",
    "@w",
    "\u00a0",
    "\u200b",
    "~",
    "1e3",
    "2020-01-01",
]
LONG = [
    "first line\nsecond line\n",
    "no end\nhere",
    "\n\n",
    "a\n\nb\n",
    "  indented\nless\n",
    "tail  \nspace\n",
    "x\n\n\n",
    "# no comment\nkey: value\n",
    "- item\n- item\n",
    "\ttab\nline",
]


class Writer:
    """Writes YAML in every manner that PyYAML reads.

    Args:
        rnd: where the choices come from.
        rich: whether anchors, aliases, merge keys, tags and `? key` may occur.
    """

    def __init__(self, rnd: random.Random, *, rich: bool = True) -> None:
        self.rnd = rnd
        self.rich = rich
        self.anchors: list[tuple[str, str]] = []
        self.step = rnd.choice([2, 2, 2, 1, 3, 4])
        self.dash = rnd.choice([2, 2, 0, 0, 4])
        self.chatty = rnd.choice([0.0, 0.1, 0.1, 0.5])

    def maybe(self, chance: float) -> bool:
        return self.rnd.random() < chance

    # ------------------------------------------------------------------------------------- scalars

    def plain(self, text: str, *, flow: bool) -> bool:
        inner = " '/{}" if not flow else " '/"
        return (
            bool(text)
            and all(c.isalnum() or c in inner + "_-" for c in text)
            and text[0].isalpha()
            and text == text.strip()
        )

    def double(self, text: str) -> str:
        out = []
        for char in text:
            if char in '"\\':
                out.append("\\" + char)
            elif char == "\n":
                out.append("\\n")
            elif char == "\t":
                out.append(self.rnd.choice(["\\t", "\t"]))
            elif ord(char) > 0x7E and self.maybe(0.4):
                out.append(f"\\U{ord(char):08x}")
            elif self.maybe(0.02):
                out.append(f"\\x{ord(char):02x}" if ord(char) < 256 else char)
            else:
                out.append(char)
        return '"' + "".join(out) + '"'

    def scalar(self, *, flow: bool, column: int) -> str:
        """A scalar as it stands behind `key: `, of one line or several."""
        if self.maybe(0.3):
            return self.rnd.choice(
                ["1", "-2.5", "true", "null", "~", "2020-01-02", "0x1F", "1_000", ".5", "1.0e+3"]
            )
        text = self.rnd.choice(WORDS)
        if not flow and self.maybe(0.25):
            return self.long(column)
        if not flow and self.maybe(0.1):
            pad = "\n" + " " * (column + self.rnd.choice([1, 2, 5]))
            return self.rnd.choice(
                [
                    f"plain text{pad}goes on{pad}here",
                    f'"double\\{pad}\\  folds{pad}on"',
                    f"'single{pad}on\n{pad}end'",
                ]
            )
        if self.maybe(0.5) and self.plain(text, flow=flow):
            return text
        if self.maybe(0.5) and "\n" not in text and not any(c in text for c in "\u200b"):
            return "'" + text.replace("'", "''") + "'"
        return self.double(text)

    def long(self, column: int) -> str:
        """A text in a block style; its lines are indented relative to the key's column."""
        text = self.rnd.choice(LONG)
        style = self.rnd.choice("||>")
        indent = self.rnd.choice([1, 2, 2, 3, 4])
        hint = str(indent) if text[0] in " \t\n" or self.maybe(0.1) else ""
        chomp = self.rnd.choice(["", "", "-", "+"])
        comment = self.rnd.choice(["", "", " # header"])
        lines = [" " * (column + indent) + line if line else "" for line in text.rstrip("\n").split("\n")]
        lines += [""] * (len(text) - len(text.rstrip("\n")) - 1 if text.endswith("\n") else 0)
        return f"{style}{hint}{chomp}{comment}\n" + "\n".join(lines)

    def key(self, name: str, *, flow: bool) -> str:
        plain = self.plain(name, flow=flow) and name != "yes"
        if plain and self.maybe(0.7):
            return name
        return (
            "'" + name.replace("'", "''") + "'" if self.maybe(0.5) else self.double(name).replace("\t", "\\t")
        )

    # ------------------------------------------------------------------------------------- between the tokens

    def end(self) -> str:
        """The rest of a line."""
        return self.rnd.choice([" ", "\t", "  # eol", " # é 😀"]) if self.maybe(self.chatty) else ""

    def gap(self, column: int) -> str:
        """Lines between two items."""
        out = []
        while self.maybe(self.chatty):
            out.append(
                self.rnd.choice(
                    ["", "  ", " " * column + "# own", " " * self.rnd.randint(0, 6) + "# any", "#"]
                )
                + "\n"
            )
        return "".join(out)

    def within(self) -> str:
        """White space inside brackets."""
        if self.maybe(self.chatty):
            return self.rnd.choice([" ", "  ", "\n      ", " # in\n      "])
        return self.rnd.choice(["", "", " "])

    # ------------------------------------------------------------------------------------- collections

    def flow(self, depth: int, column: int) -> str:
        if depth <= 0 or self.maybe(0.6):
            return self.scalar(flow=True, column=column)
        number = self.rnd.choice([0, 1, 1, 2, 3])
        pad = self.within().replace("\n", "\n" + " " * column)
        if self.maybe(0.5):
            names = self.rnd.sample(KEYS, number)
            items = [f"{self.key(name, flow=True)}: {self.flow(depth - 1, column)}" for name in names]
            marks = "{}"
        else:
            items = [self.flow(depth - 1, column) for _ in range(number)]
            marks = "[]"
        body = ("," + (pad or " ")).join(items)
        comma = "," if items and self.maybe(0.1) else ""
        return f"{marks[0]}{pad}{body}{comma}{pad}{marks[1]}"

    def properties(self, kind: str) -> str:
        if not self.rich or not self.maybe(0.06):
            return ""
        if self.maybe(0.5):
            name = self.rnd.choice(string.ascii_lowercase) + str(len(self.anchors))
            self.anchors.append((name, kind))
            return f"&{name} "
        return {"scalar": "!fn ", "mapping": "!!map ", "sequence": "!!seq "}[kind]

    def value(self, depth: int, column: int) -> str:
        """What follows `key:` or `-`, up to the line's end and all lines below."""
        if self.rich and self.anchors and self.maybe(0.05):
            return f" *{self.rnd.choice(self.anchors)[0]}{self.end()}\n"
        choice = self.rnd.random()
        if depth <= 0 or choice < 0.5:
            if self.maybe(0.05):
                return self.end() + "\n"
            mark = self.properties("scalar")
            text = self.scalar(flow=False, column=column)
            if mark == "!fn ":
                text = "utils.name"
            if not mark and text[0] not in "|>#" and self.maybe(0.04):
                return f"{self.end()}\n{' ' * (column + self.step)}{text}{self.end()}\n"
            tail = "" if text[0] in "|>" else self.end()
            return f" {' ' * self.rnd.choice([0, 0, 0, 2])}{mark}{text}{tail}\n"
        if choice < 0.65:
            mark = self.properties("scalar").replace("!fn ", "")
            return f" {mark}{self.flow(depth, column)}{self.end()}\n"
        if choice < 0.85:
            mark = self.properties("mapping").rstrip()
            inner = column + self.step
            return (
                f"{' ' + mark if mark else ''}{self.end()}\n{self.gap(inner)}{self.mapping(depth - 1, inner)}"
            )
        mark = self.properties("sequence").rstrip()
        inner = column + self.dash
        return f"{' ' + mark if mark else ''}{self.end()}\n{self.gap(inner)}{self.sequence(depth - 1, inner)}"

    def mapping(self, depth: int, column: int, *, first: bool = True) -> str:
        names = self.rnd.sample(KEYS, self.rnd.choice([1, 2, 3, 4]))
        out = []
        bases = [name for name, kind in self.anchors if kind == "mapping"]
        if self.rich and bases and self.maybe(0.3):
            out.append(f"{' ' * column}<<: *{self.rnd.choice(bases)}\n")
        for name in names:
            key = self.key(name, flow=False)
            if self.rich and self.maybe(0.03):
                out.append(f"{' ' * column}? {key}\n{' ' * column}:{self.value(0, column)}")
            else:
                colon = " :" if self.maybe(0.03) else ":"
                out.append(f"{' ' * column}{key}{colon}{self.value(depth, column)}")
        text = "".join(line if not index else self.gap(column) + line for index, line in enumerate(out))
        return text if first else text[column:]

    def sequence(self, depth: int, column: int, *, mappings: bool = False) -> str:
        out = []
        for _ in range(self.rnd.choice([1, 2, 3])):
            if mappings or (depth > 0 and self.maybe(0.4)):
                pad = self.rnd.choice([1, 1, 1, 3])
                inner = column + 1 + pad
                out.append(f"{' ' * column}-{' ' * pad}{self.mapping(depth - 1, inner, first=False)}")
            else:
                out.append(f"{' ' * column}-{self.value(depth - 1, column)}")
        return "".join(line if not index else self.gap(column) + line for index, line in enumerate(out))

    # ------------------------------------------------------------------------------------- files

    def document(self) -> str:
        self.anchors = []
        choice = self.rnd.random()
        head = self.gap(0)
        if choice < 0.65:
            return head + self.mapping(3, self.rnd.choice([0, 0, 0, 2]))
        if choice < 0.92:
            return head + self.sequence(3, 0, mappings=True)
        return head + "{" + self.within() + "a: " + self.flow(2, 0) + self.within() + "}\n"

    def file(self) -> bytes:
        """The bytes of a file of one document or several."""
        parts = [self.document()]
        if self.maybe(0.2):
            parts[0] = (
                self.rnd.choice(["---\n", "--- # start\n", "%YAML 1.1\n---\n", "# top\n---\n"]) + parts[0]
            )
        while self.maybe(0.15):
            parts.append(
                self.rnd.choice(["---\n", "...\n---\n", "--- # next\n", "...\n# c\n%YAML 1.1\n---\n"])
                + self.document()
            )
        text = "".join(parts) + self.rnd.choice(["", "", "", "...\n", "# end\n", "\n\n"])
        if self.maybe(0.15):
            text = text.removesuffix("\n")
        if self.maybe(0.2):
            text = text.replace("\n", "\r\n")
        return (b"\xef\xbb\xbf" if self.maybe(0.1) else b"") + text.encode()


def edits_for(rnd: random.Random, record: Any, number: int, apply: Any) -> list[Any]:
    """Random edits that fit the record, each meant in the state that the ones before it left."""
    from evalspec.formats.edits import (
        FIRST,
        IN_PLACE,
        LAST,
        EditError,
        Insert,
        Move,
        Remove,
        Rename,
        Replace,
        Where,
    )

    def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        return [path for step, item in items for path in [(*prefix, step), *paths(item, (*prefix, step))]]

    found: list[Any] = []
    state = record
    for _ in range(number * 4):
        if len(found) == number:
            break
        known = paths(state)
        path = rnd.choice(known) if known else ("new",)
        key = rnd.choice([*KEYS, "new", "fresh key", "no", "2", "deep"])
        value = rnd.choice(
            [
                *WORDS,
                *LONG,
                3,
                -1.5,
                1e22,
                None,
                True,
                [],
                {},
                ["x", {"k": "v"}],
                {"m": {"n": [1]}, "o": "p\nq\n"},
            ]
        )
        where = rnd.choice([FIRST, LAST, LAST, Where(after=rnd.choice(KEYS))])
        edit = rnd.choice(
            [
                Replace(path, value),
                Replace(path, value),
                Rename(path, key),
                Insert((*path[:-1], key), value, where),
                Insert((*path[:-1], "deep", key), value, where),
                Remove(path),
                Move(path, (key,), where),
                Move(path, ("deep", key), where),
                Move(path, (*path[:-1], key, "inner"), IN_PLACE),
            ]
        )
        try:
            state = apply(state, [edit])
        except (EditError, AttributeError, TypeError):
            continue
        found.append(edit)
    return found
