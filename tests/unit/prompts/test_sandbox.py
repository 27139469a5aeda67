"""Templates within limits: nothing runs away, nothing gets out (design.md, "Trust")."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

import ast
import time
from typing import Any

import pytest

from evalspec.prompts.limits import TemplateLimit, Watch
from evalspec.prompts.problems import Unknown
from evalspec.prompts.sandbox import Sandbox

ROW: dict[str, Any] = {
    "q": " hi ",
    "options": ["a", "b"],
    "at": 1,
    "nested": {"text": "T", "items": 3},
    "none": None,
}

SAME = [
    ("{{q}}|{{q.strip()}}|{{options[0]}}|{{options[at]}}|{{nested.text}}|{{nested['items']}}|{{none}}|{{options}}", " hi |hi|a|b|T|3|None|['a', 'b']"),
    ("a\r\nb\rc\n", "a\nb\nc\n"),
    ("{{q|trim}}\n", "hi\n"),
    ("{{ 'aXbX' | regex_replace('X', '-', count=1) }}", "a-bX"),
    ("{% for o in options %}{{ o.upper() }}{% endfor %}", "AB"),
    ("{{ 'é' }}{# gone #}{{- ' x' }}", "é x"),
    ("{q} }} {", "{q} }} {"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text"), SAME)
def test_a_template(source: str, text: str) -> None:
    assert Sandbox().render(source, ROW) == text


PLAIN = [
    "{{ 'A: ' + q }}",
    "{{ q + q.strip() }}|{{ at + at }}|{{ options + options }}",
    "{{ q + at }}",
    "{{ ['x', 'y'][at] }}",
    "{{ ['x', 'y'][q] }}",
    "{{ ['x', q, 3] }}",
    "{{ options.index('b') }}",
    "{{ options.index('z') }}",
    "{{ ['1', '2'].index(word) }}",
    "{{ nested.index('T') }}",
    "{{ q.index('i') }}",
    "{{ nested.text + nested['text'] }}",
    "{{ 'a' + 1 }}",
    "{{ [gone] }}",
    "{{ true }}{{ none }}{{ 1.50 }}{{ 'x' }}",
]  # fmt: skip


@pytest.mark.parametrize("source", PLAIN)
def test_the_short_way_gives_what_jinja_gives(source: str) -> None:
    from jinja2 import Environment, StrictUndefined

    row = ROW | {"word": "2"}
    try:
        theirs: object = Environment(undefined=StrictUndefined).from_string(source).render(**row)  # noqa: S701
    except Exception as problem:  # noqa: BLE001 - its kind and its words are compared
        theirs = (type(problem).__name__, str(problem))
    try:
        ours: object = Sandbox().render(source, row)
    except Exception as problem:  # noqa: BLE001 - as above
        ours = (type(problem).__name__, str(problem))
    assert ours == theirs


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{options}}", ["a", "b"]),
        ("{{ options + [q] }}", ["a", "b", " hi "]),
        ("{{odd}}", ["'", '"', "\\", "\ud800", "\x00", "\u00e9\n"]),
        ("{{nested.text}}", None),
        ("{{mixed}}", None),
        ("{{gone}}", None),
        ("{{options}} ", None),
        ("{% if q %}{{options}}{% endif %}", None),
    ],
)
def test_a_list_of_texts_is_read_without_its_text(source: str, value: list[str] | None) -> None:
    row = ROW | {"odd": ["'", '"', "\\", "\ud800", "\x00", "\u00e9\n"], "mixed": ["a", 1]}
    read = Sandbox().lister(source)
    if value is None:
        if read is not None:
            with pytest.raises((TypeError, KeyError)):
                read(row)
        return
    assert read is not None
    assert read(row) == value == ast.literal_eval(Sandbox().render(source, row))
    with pytest.raises(TypeError):
        read(row | {"self": 1})


MUCH = [
    "{{ 'x' * 10**9 }}",
    "{{ [1] * 10**9 }}",
    "{{ 10 ** (10 ** 6) }}",
    "{{ '%999999999d' % 1 }}",
    "{{ '%*d' % (10**9, 1) }}",
    "{{ '{:>999999999}'.format(1) }}",
    "{{ '{:>{w}}'.format(1, w=999999999) }}",
    "{{ 'x'.ljust(10**9) }}",
    "{{ 'x' | center(10**9) }}",
    "{{ ('x' * 10**6) | replace('x', 'y' * 1000) }}",
    "{{ ('x' * 10**6).replace('x', 'y' * 1000) }}",
    "{{ ('x' * 10**5) | regex_replace('x', 'y' * 1000) }}",
    "{% set ns = namespace(a='x' * 1000) %}{% for i in range(40) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
    "{% for i in range(10**9) %}x{% endfor %}",
    "{{ lipsum(n=10**6) }}",
    "{% set x = 'y' * 10**6 %}{% for i in range(99) %}{{ x }}{% endfor %}",
]


@pytest.mark.parametrize("source", MUCH)
def test_a_template_that_makes_too_much_is_stopped_at_once(source: str) -> None:
    begun = time.monotonic()
    with pytest.raises(TemplateLimit):
        Sandbox().render(source, ROW)
    assert time.monotonic() - begun < 3


SLOW = [
    "{{ ('a' * 40 ~ '!') | regex_replace('(a+)+$', 'b') }}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
]


@pytest.mark.parametrize("source", SLOW)
def test_a_template_that_does_not_end_is_stopped(source: str) -> None:
    sandbox = Sandbox(Watch(seconds=0.4))
    with sandbox.watch, pytest.raises(TemplateLimit, match="did not end"):
        sandbox.render(source, ROW)
    assert sandbox.render("{{at}}", ROW) == "1"


UNSAFE = [
    "{{ q.__class__.__mro__ }}",
    "{{ options.append(1) }}",
    "{{ ''.format.__globals__ }}",
    "{{ '{0.__class__}'.format(q) }}",
]


@pytest.mark.parametrize("source", UNSAFE)
def test_what_the_sandbox_forbids(source: str) -> None:
    from jinja2.exceptions import SecurityError

    with pytest.raises(SecurityError):
        Sandbox().render(source, ROW)


def test_an_undefined_variable_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="nope"):
        Sandbox().render("{{ nope }}", ROW)


def test_an_attribute_comes_before_a_key_and_its_address_is_no_text() -> None:
    with pytest.raises(Unknown, match="address"):
        Sandbox().render("{{ nested.items }}", ROW)


def test_a_column_cannot_be_called_self() -> None:
    with pytest.raises(TypeError):
        Sandbox().render("{{ q }}", {**ROW, "self": 1})


def test_a_template_that_does_not_parse_says_so_each_time() -> None:
    from jinja2 import TemplateSyntaxError

    render = Sandbox().renderer("{{ q")
    for _ in range(2):
        with pytest.raises(TemplateSyntaxError):
            render(ROW)
