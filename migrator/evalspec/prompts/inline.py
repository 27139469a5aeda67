"""Inline tasks: a record that holds its own question and examples (prompting.md, "Inline tasks")."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalspec.prompts.message import (
    Message,
    build_qa_turn,
    maybe_delimit,
    messages_to_text,
    multiturn_to_singleturn,
    requires_delimiter,
)
from evalspec.prompts.parts import TurnOrigins, system_parts, turn_parts
from evalspec.prompts.prompt import Origin, Part, Prompt, parts_in_template
from evalspec.prompts.requests import construct_requests, continuation_delimiter
from evalspec.prompts.view import PLAIN, View
from evalspec.schema.assembly import Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalspec.schema.assembly import Assembly, Source

Record = dict[str, Any]


def render_inline(record: Mapping[str, Any], assembly: Assembly, view: View = PLAIN) -> Prompt:
    """The prompt of an inline task.

    Args:
        record: a valid record.
        assembly: where its schema version reads each part from.
        view: how it is shown; `shots` keeps the first so many examples.

    Raises:
        ChatError: the view's chat template does not take these messages.
    """
    description = _read(record, assembly.system)
    tgt_delim = _read(record, assembly.target_delimiter)
    few_delim = _read(record, assembly.fewshot_delimiter)
    prefix = _read(record, assembly.gen_prefix)
    examples = (dotted(record, assembly.examples) or [])[: view.shots]
    system = maybe_delimit(view.system, description, few_delim)

    joins = (_origin(record, assembly.target_delimiter, "target_delimiter"), few_delim)
    separator = _origin(record, assembly.fewshot_delimiter, "fewshot_delimiter")
    prefixed = _origin(record, assembly.gen_prefix, "gen_prefix")
    folded = view.chat is None or not view.multiturn
    messages = [Message("system", system)] if system else []
    parts = system_parts(
        view.system, description, few_delim, _origin(record, assembly.system, "description"), separator
    )
    for number, example in enumerate(examples):
        place = f"{assembly.examples}[{number}]"
        q, a = example[assembly.example_question], example[assembly.example_answer]
        origins = TurnOrigins(
            Origin(key=f"{place}.{assembly.example_question}", shot=number),
            Origin(key=f"{place}.{assembly.example_answer}", shot=number),
            joins[0]._replace(shot=number),
            separator._replace(shot=number),
            prefixed._replace(shot=number),
        )
        messages += build_qa_turn(q, None, a, prefix, tgt_delim, few_delim, empty_answers=True)
        parts += turn_parts(
            origins, q, None, a, prefix, tgt_delim, few_delim, empty_answers=True, delimited=folded
        )
    question = dotted(record, assembly.question)
    own = TurnOrigins(Origin(key=assembly.question), Origin(), joins[0], separator, prefixed)
    messages += build_qa_turn(question, None, None, prefix, tgt_delim, "")
    parts += turn_parts(own, question, None, None, prefix, tgt_delim, "", delimited=view.chat is None)
    return _finish(record, assembly, view, messages, parts, prefix, tgt_delim)


def _finish(
    record: Mapping[str, Any],
    assembly: Assembly,
    view: View,
    messages: list[Message],
    parts: list[Part],
    prefix: str,
    tgt_delim: str,
) -> Prompt:
    """The text of the messages under the view, and what would be sent."""
    notes: tuple[str, ...] = ()
    if view.chat is None:
        text = messages_to_text(messages)
        shown = tuple(parts)
    else:
        chat = messages if view.multiturn else multiturn_to_singleturn(messages)
        answer = view.chat.apply([message.to_dict() for message in chat], add_generation_prompt=not prefix)
        text, notes = answer.text, answer.notes
        shown = parts_in_template(text, parts)
    output_type = _read(record, assembly.output_type)
    targets = dotted(record, assembly.targets)
    choices = dotted(record, assembly.choices) if assembly.choices else None
    generation = None
    if output_type == "generate_until":
        generation = dict((dotted(record, assembly.generation) if assembly.generation else None) or {})
        generation.setdefault("until", [])
    requests = construct_requests(
        output_type,
        text,
        target=targets[0] if targets else None,
        choices=choices,
        generation=generation,
        delimiter=continuation_delimiter(tgt_delim, prefix, chat=view.as_chat),
    )
    return Prompt(
        text=text,
        messages=tuple(messages),
        parts=shown,
        requests=requests,
        target=targets,
        choices=tuple(choices) if choices is not None else None,
        output_type=output_type,
        stop=tuple(generation["until"]) if generation else (),
        generation=generation,
        shots=tuple(range(len((dotted(record, assembly.examples) or [])[: view.shots]))),
        notes=notes,
    )


def text_of(record: Mapping[str, Any], assembly: Assembly) -> str:
    """The plain text of an inline task's prompt, and nothing else: for comparing very many records."""
    return text_function(assembly)(record)


@lru_cache(maxsize=64)
def text_function(assembly: Assembly) -> Callable[[Mapping[str, Any]], str]:
    """A function from a record to its plain text under one assembly.

    It equals `render_inline(record, assembly).text` for every valid record.
    """
    question, examples = assembly.question, assembly.examples
    q_key, a_key = assembly.example_question, assembly.example_answer
    flat_question, flat_examples = "." not in question, "." not in examples
    outer, _, inner = examples.partition(".")
    inner_is_flat = "." not in inner
    sources = (assembly.system, assembly.target_delimiter, assembly.fewshot_delimiter, assembly.gen_prefix)
    fields = [source.name for source in sources if not isinstance(source, Constant)]
    plain = all("." not in name for name in fields)
    names = frozenset(fields)
    defaults = [source.text if isinstance(source, Constant) else source.default for source in sources]
    default_system, default_tgt, default_few, default_prefix = defaults

    def text(record: Mapping[str, Any]) -> str:
        own: str = record[question] if flat_question else dotted(record, question)
        if flat_examples:
            shots = record.get(examples)
        elif inner_is_flat:
            holder = record.get(outer)
            shots = holder.get(inner) if holder else None
        else:
            shots = dotted(record, examples)
        if plain and names.isdisjoint(record):
            system, tgt, few, prefix = default_system, default_tgt, default_few, default_prefix
        else:
            system, tgt, few, prefix = [_read(record, source) for source in sources]
        if prefix:
            return _prefixed(system, shots or [], own, tgt, few, prefix, q_key, a_key)
        if not shots:
            return system + own if system else own
        shown = [f"{shot[q_key]}{tgt}{shot[a_key]}{few}" for shot in shots]
        return f"{system}{''.join(shown)}{own}"

    return text


def _prefixed(
    system: str, shots: list[Record], own: str, tgt: str, few: str, prefix: str, q_key: str, a_key: str
) -> str:
    """The text of a task whose answers begin with a prefix."""
    out = [system]
    for shot in shots:
        q, a = shot[q_key], shot[a_key]
        out += [q, tgt if requires_delimiter(q, prefix) else "", maybe_delimit(prefix, a, " "), few]
    out += [own, tgt if requires_delimiter(own, prefix) else "", prefix]
    return "".join(out)


def dotted(record: Any, path: str) -> Any:
    """The value at a dotted path of mappings, None where there is none."""
    value = record
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _read(record: Mapping[str, Any], source: Source) -> str:
    """A part's text: fixed, or the field's, or its default."""
    if isinstance(source, Constant):
        return source.text
    value = record.get(source.name) if "." not in source.name else dotted(record, source.name)
    return source.default if value is None else str(value)


def _origin(record: Mapping[str, Any], source: Source, part: str) -> Origin:
    """Where a part's text comes from."""
    if isinstance(source, Constant):
        return Origin(rule=f"{part}: fixed by the schema version")
    if dotted(record, source.name) is None:
        return Origin(rule=f"{part}: the default")
    return Origin(key=source.name)
