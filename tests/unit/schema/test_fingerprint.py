"""What a fingerprint does not see (comments, layout, annotations), and what it sees (all that does something)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from support.families import project_in, write_version
from support.migrating import own_project

from evalspec.errors import UsageError
from evalspec.schema.contract import fingerprint
from evalspec.schema.fingerprint import ALGORITHM, Reader, function_fingerprint

HELP = '''
"""Helpers."""

import re

LETTERS = "abc"


def tail(text: str, size: int = 2) -> str:
    """The end."""
    return text[-size:]
'''

RULE = '''
"""A version."""

import re
from math import floor
from typing import TYPE_CHECKING

from . import help as other
from .help import LETTERS, tail

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST, SECOND = "1", "2"
_PATTERN = re.compile(r"[A-E]")
LIMIT: int = 3
WORDS = ["a"]
WORDS += ["b"]

try:
    from fast import search
except ImportError:

    def search(text):
        return text.find("x")


def helper(text: str) -> str:
    """Help."""
    return text.strip()


def unrelated(text):
    return text * 2


class Box:
    """Holds."""

    def open(self, text):
        """Open."""
        return helper(text)


def rule(text: str, words: "Sequence[str]" = ()) -> str:
    """The rule."""
    found = _PATTERN.search(Box().open(text))
    more = {word: floor(len(word)) for word in WORDS}
    if found and LIMIT > 2:  # a comment
        return found[0] + tail(text) + other.LETTERS + SECOND + f"{more!r}" + str(search(text))
    return ""
'''


def of(folder: Path, *, rule: str = RULE, help_: str = HELP) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "v1.py").write_text(rule)
    (folder / "help.py").write_text(help_)
    return Reader(str(folder)).fingerprint("v1.py", "rule")


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


FREE = [
    ("# a comment", "# another"),
    ('"""The rule."""', '"""The rule, in other words.\n\n    At length.\n    """'),
    ('    """Help."""\n', ""),
    ('    """Holds."""\n', ""),
    ('"""A version."""', ""),
    ("def rule(text: str, words", "def rule(text, words"),
    (') -> str:\n    """The rule', ") -> 'Sequence[str]':\n    \"\"\"The rule"),
    ('words: "Sequence[str]"', "words: Box"),
    ("LIMIT: int = 3", "LIMIT = 3"),
    ("LIMIT: int = 3", "LIMIT: Final[int] = 3"),
    ("if found and LIMIT > 2:", "if (found\n            and (LIMIT > 2)):"),
    ('"2"', "'2'"),
    ('return ""', "return ''"),
    ('re.compile(r"[A-E]")', 're.compile("[A-E]")'),
    ('re.compile(r"[A-E]")', 're.compile(r"[A" r"-E]")'),
    ("return text * 2", "return text * 3"),
    ("def unrelated", "def unrelated_to_all"),
    ("LIMIT > 2", "LIMIT > 0x2"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), FREE)
def test_what_does_nothing_is_free(tmp_path: Path, old: str, new: str) -> None:
    assert of(tmp_path / "a") == of(tmp_path / "b", rule=changed(RULE, old, new))


SEEN = [
    ("[A-E]", "[A-F]"),
    ("LIMIT: int = 3", "LIMIT: int = 4"),
    ("LIMIT: int = 3", "LIMIT: int = 3.0"),
    ("LIMIT: int = 3", "LIMIT: int = True"),
    ('WORDS = ["a"]', 'WORDS = ["c"]'),
    ('WORDS += ["b"]', 'WORDS += ["c"]'),
    ('WORDS += ["b"]', ""),
    ('"1", "2"', '"1", "3"'),
    ("text.strip()", "text.lstrip()"),
    ("return helper(text)", "return helper(text) + ' '"),
    ('text.find("x")', 'text.find("y")'),
    ("from fast import search", "from slow import search"),
    ("from math import floor", "from math import ceil as floor"),
    ("from math import floor", "from cmath import floor"),
    ("\nimport re\n", "\nimport regex as re\n"),
    ("LIMIT > 2", "LIMIT >= 2"),
    ('return ""', 'return "\\x85"'),
    ('return ""', "return None"),
    ('words: "Sequence[str]" = ()', "words: \"Sequence[str]\" = ('',)"),
    ("from .help import LETTERS, tail", "from .help import LETTERS\n\ndef tail(text): return text[-2:]\n"),
    ("from . import help as other", "from . import elsewhere as other"),
    ("Box().open(text)", "Box().open(text, )[:]"),
    ("{more!r}", "{more!s}"),
    ("{more!r}", "{more!r:>2}"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), SEEN)
def test_what_does_something_is_seen(tmp_path: Path, old: str, new: str) -> None:
    assert of(tmp_path / "a") != of(tmp_path / "b", rule=changed(RULE, old, new))


@pytest.mark.parametrize(
    ("old", "new", "free"),
    [
        ("[-size:]", "[-size - 1:]", False),
        ("size: int = 2", "size: int = 3", False),
        ('LETTERS = "abc"', 'LETTERS = "abd"', False),
        ('"""The end."""', '"""Its end."""', True),
        ("text: str", "text: object", True),
    ],
)
def test_a_sibling_module_counts_as_far_as_it_is_reached(
    tmp_path: Path, old: str, new: str, *, free: bool
) -> None:
    assert (of(tmp_path / "a") == of(tmp_path / "b", help_=changed(HELP, old, new))) == free


def test_a_fingerprint_names_its_algorithm(tmp_path: Path) -> None:
    assert of(tmp_path).startswith(f"{ALGORITHM}:")
    assert ALGORITHM == "s1:sha256"


def test_functions_that_go_round_in_circles(tmp_path: Path) -> None:
    text = "def rule(n):\n    return n and other(n - 1)\n\n\ndef other(n):\n    return n and rule(n - %d)\n"
    assert of(tmp_path / "a", rule=text % 1) != of(tmp_path / "b", rule=text % 2)


def made() -> object:
    def inner(text: str) -> str:
        return text

    return inner


@pytest.mark.parametrize("function", [lambda text: text, made(), Reader.defines])
def test_a_function_whose_text_cannot_be_found_is_refused(function: object) -> None:
    if getattr(function, "__module__", "").startswith("evalspec."):
        assert function_fingerprint(function)  # type: ignore[arg-type]  # the tool's own count by name
        return
    with pytest.raises(UsageError, match="is no function at the top of a module") as caught:
        function_fingerprint(function)  # type: ignore[arg-type]
    assert "def" in caught.value.fix


def test_what_is_not_written_in_python_counts_by_name() -> None:
    assert function_fingerprint(str.strip) == function_fingerprint(str.strip)
    assert function_fingerprint(str.strip) != function_fingerprint(str.lstrip)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"lower": "casefold"}),
        ({}, {"more": ("note: str",)}),
        ({}, {"assembly": 'question="prompt", examples="examples", target_delimiter=Constant("")'}),
        (
            {
                "above": "def short(text):\n    return len(text) < 9\n",
                "more": ("x: Annotated[str, Pattern(short, 'be short')]",),
            },
            {
                "above": "def short(text):\n    return len(text) < 8\n",
                "more": ("x: Annotated[str, Pattern(short, 'be short')]",),
            },
        ),
        (
            {"above": "def odd(text):\n    return None\n", "rules": 'Rule("bad_value", odd, ("prompt",)),'},
            {"above": "def odd(text):\n    return text\n", "rules": 'Rule("bad_value", odd, ("prompt",)),'},
        ),
    ],
    ids=["post-process", "field", "assembly", "predicate", "rule"],
)
def test_a_version_that_changed_has_another_fingerprint(
    tmp_path: Path, first: dict[str, object], second: dict[str, object]
) -> None:
    found = []
    for name, said in (("a", first), ("b", second), ("c", first)):
        (tmp_path / name).mkdir()
        write_version(tmp_path / name, **said)  # type: ignore[arg-type]
        found.append(fingerprint(project_in(tmp_path / name).schema("team@v1")))
    assert found[0] == found[2] != found[1]


# ── On every Python at hand ──────────────────────────────────────────────────────────────────────────────────

_PRINT_ALL = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("fingerprint", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for folder in sys.argv[2:]:
    reader = module.Reader(folder)
    for file in sorted(os.listdir(folder)):
        if file.endswith(".py"):
            for name in sorted(reader._module(file)):
                print(file, name, reader.fingerprint(file, name))
"""


def pythons() -> list[str]:
    """Other interpreters that the tool runs on, where this machine has some."""
    versions = Path(sys.base_prefix).parent
    found = [versions.glob(f"3.{minor}.*/bin/python3") for minor in range(11, 16)]
    return [sys.executable, *(str(path) for paths in found for path in paths)]


def test_fingerprints_are_the_same_on_every_python(root: Path, tmp_path: Path) -> None:
    spec = importlib.util.find_spec("evalspec.schema.fingerprint")
    assert spec is not None
    assert spec.origin is not None
    of(tmp_path / "odd", rule=RULE + 'ODD = "\\u1c89 é \\x85", 1e400, b"\\xff", ..., 10**30, -0.0, 1j\n')
    folders = [root / "schemas/evalspec", root / "examples/acme/schemas/acme", tmp_path / "odd"]
    found = {}
    for python in pythons():
        done = subprocess.run(
            [python, "-c", _PRINT_ALL, spec.origin, *map(str, folders)],
            env={"PYTHONPATH": str(root / "migrator")}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{python}: {done.stderr}"
        found[python] = done.stdout
    assert len(set(found.values())) == 1, found.keys()
    assert found[sys.executable].count("\n") > 50


def test_our_versions_have_fingerprints() -> None:
    project = own_project()
    found = {fingerprint(project.schema(version)) for version in ("v1", "v2", "v3")}
    assert len(found) == 3
