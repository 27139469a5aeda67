"""Templates within limits: nothing runs away, nothing gets out (design.md, "Trust")."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

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
