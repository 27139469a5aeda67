"""Where the parts of a prompt meet: the white space between them, and what is said twice.

All rules read a prompt's parts as it is rendered under one view, so what a chat template does to them counts.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.lint.remark import Remark
from evalspec.check.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.prompt import Part, Prompt
    from evalspec.prompts.view import View

SPACE_ON_BOTH_SIDES = Rule(
    "space_on_both_sides",
    "warning",
    "White space stands on both sides of a join, so two pieces of it are shown or scored where one was meant.",
    'task: sums\ntest_split: test\ndoc_to_text: "{{question}}\\nAnswer: "\ndoc_to_target: answer\n',
    "keep the white space on one side; it changes the prompt, so raise the task's version",
)
NO_SPACE_AT_JOIN = Rule(
    "no_space_at_join",
    "warning",
    "An answer follows a question with no white space between them.",
    "task: letters\noutput_type: multiple_choice\ntest_split: test\n"
    'doc_to_text: "{{question}}\\nAnswer:"\ndoc_to_target: label\ndoc_to_choice: ["A", "B"]\ntarget_delimiter: ""\n',
    "put a space into target_delimiter, unless the language has none",
)
GLUED_PARTS = Rule(
    "glued_parts",
    "warning",
    "Two parts of a prompt touch: a description, a system instruction or an example runs into what follows it.",
    'task: sums\ntest_split: test\ndescription: "Answer the question."\n'
    'doc_to_text: "Q: {{question}}"\ndoc_to_target: answer\n',
    "end the first part in a line end; it changes the prompt, so raise the task's version",
)
REPEATED_PHRASE = Rule(
    "repeated_phrase",
    "warning",
    "A phrase ends one part of a prompt and begins the next, so a model reads it twice.",
    'task: steps\ntest_split: test\ndoc_to_text: "{{question}}\\nA: Let\'s think step by step."\n'
    "doc_to_target: answer\nnum_fewshot: 1\nfewshot_config:\n  sampler: first_n\n  samples:\n"
    '    - question: "1 + 1?"\n      answer: "Let\'s think step by step. It is 2."\n',
    "keep the phrase in one of the two; it changes the prompt, so raise the task's version",
)
SHOWN_DIFFERS_FROM_SCORED = Rule(
    "shown_differs_from_scored",
    "warning",
    "Examples show something else before an answer than what is scored before one.",
    "task: letters\noutput_type: multiple_choice\ntest_split: test\nfewshot_split: dev\nnum_fewshot: 2\n"
    'doc_to_text: "{{question}}\\nAnswer:"\ndoc_to_target: label\ndoc_to_choice: ["A", "B"]\n'
    'fewshot_config:\n  target_delimiter: "\\n"\n',
    "show examples in the form that is scored",
)
EMPTY_SHOT_TARGET = Rule(
    "empty_shot_target",
    "warning",
    "An example has no answer, so the next text is glued to its question.",
    'task: sums\ntest_split: test\nfewshot_split: dev\nnum_fewshot: 2\ndoc_to_text: "{{question}}"\n'
    'doc_to_target: answer\nfewshot_config:\n  doc_to_target: ""\n',
    "give every example an answer, or end its doc_to_text in a line end",
)
DOUBLED_BOS = Rule(
    "doubled_bos",
    "warning",
    "A prompt begins with a begin-of-text token that a tokenizer or a chat template adds once more.",
    'task: sums\ntest_split: test\ndoc_to_text: "<s>{{question}}"\ndoc_to_target: answer\n',
    "leave special tokens to the tokenizer and to the chat template",
)
RULES = (
    SPACE_ON_BOTH_SIDES,
    NO_SPACE_AT_JOIN,
    GLUED_PARTS,
    REPEATED_PHRASE,
    SHOWN_DIFFERS_FROM_SCORED,
    EMPTY_SHOT_TARGET,
    DOUBLED_BOS,
)

_BOS = re.compile(r"\s*(<s>|<bos>|<\|begin_of_text\|>|<\|startoftext\|>|<｜begin▁of▁sentence｜>|\[BOS\])")
#: Scripts that have no spaces between words, and their signs.
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]"
)
#: What an answer may follow at once: a bracket, a quote, a mark.
_OPEN = re.compile(r"[(\[{<\"'“‘«*_#$/\\=>|`-]")
_SENTENCE = re.compile(r"(?:[.!?:]\s+|\n)")
#: Marks of a value that was made up: what the real one begins or ends with is not known.
_MADE_UP = "⟨⟩"
_SHORT, _WORDS = 12, 3
#: So far from the join a phrase is looked for.
_FAR = 400


class Way(NamedTuple):
    """How a task joins its parts.

    Attributes:
        shot_delimiter: what stands between an example's question and its answer.
        scored: what stands before a scored choice under this view.
        shot_target: the field that gives an example's answer.
        may_be_empty: the row was made up, and its answer may only be empty for that reason.
    """

    shot_delimiter: str
    scored: str
    shot_target: str
    may_be_empty: bool


def joins(prompt: Prompt, view: View, way: Way) -> Iterator[Remark]:
    """What there is to say of the places where one prompt's parts meet."""
    if prompt.output_type == "loglikelihood_rolling":
        return  # the target is all that is scored, with nothing before it
    parts = [part for part in prompt.parts if part.text]
    for at, part in enumerate(parts):
        if part.kind in ("join", "separator", "template"):
            continue
        follow = parts[at + 1 : at + 3]
        if follow and follow[0].kind == "join":
            alone = prompt.output_type == "loglikelihood"
            yield from _across(part, follow[0].text, follow[1] if len(follow) > 1 else None, alone=alone)
        elif follow:
            yield from _touching(part, follow[0])
        if part.kind in ("system", "question"):
            yield from _begins(part, first=at == 0)
    for before, after in pairwise(parts):
        if before.kind == "separator" and after.kind == "question" and not _parted(before.text, after.text):
            message = f"the examples are parted by {before.text!r}, with no white space"
            yield Remark(
                GLUED_PARTS, before.origin.key or "fewshot_delimiter", message, before.text, "", None, _NEAR
            )
    if view.as_chat and isinstance(prompt.text, str):
        yield from _twice_begun(prompt.text)
    yield from _scored(prompt, parts, view, way)
    yield from _examples(prompt, parts, view, way)


_NEAR = ("doc_to_text", "prompt")


def _parted(left: str, right: str) -> bool:
    """Whether white space stands where two texts meet."""
    return left[-1].isspace() or right[0].isspace()


def _key(part: Part) -> str:
    return part.origin.key or "doc_to_text"


def _across(left: Part, join: str, right: Part | None, *, alone: bool) -> Iterator[Remark]:
    """A question and its answer, with a delimiter between them; `alone` says that it is scored without one."""
    if left.text[-1].isspace() and join[0].isspace():
        message = f"{_named(left)} ends in white space, and {join!r} follows it before the answer"
        yield Remark(SPACE_ON_BOTH_SIDES, _key(left), message, _tail(left.text) + join)
    elif right is not None and join[-1].isspace() and right.text[0].isspace():
        message = f"{join!r} stands before {_named(right)}, which begins with white space"
        fix = 'examples alone have a delimiter here: say fewshot_config.target_delimiter: ""' if alone else ""
        yield Remark(SPACE_ON_BOTH_SIDES, _key(right), message, join + right.text[:20], fix)
    if right is not None:
        yield from _repeated(left, right)


def _touching(left: Part, right: Part) -> Iterator[Remark]:
    """Two parts with nothing between them."""
    if right.kind in ("template", "separator"):
        return
    yield from _repeated(left, right)
    if left.kind == "system":
        if not _parted(left.text, right.text) and not _is_open(left.text[-1], right.text[0]):
            message = f"nothing stands between {_named(left)} and {_named(right)}"
            key, anchors = (left.origin.key or "", ()) if left.origin.key else (_key(right), ())
            yield Remark(GLUED_PARTS, key, message, _tail(left.text) + right.text[:20], "", None, anchors)
    elif right.kind == "answer":
        yield from _no_space(left, right.text)
    elif (
        left.kind == "question"
        and right.kind == "gen_prefix"
        and left.text[-1].isspace()
        and right.text[0].isspace()
    ):
        message = f"{_named(left)} ends in white space, and {_named(right)} begins with it"
        yield Remark(SPACE_ON_BOTH_SIDES, _key(left), message, _tail(left.text) + right.text[:20])


def _is_open(left: str, right: str) -> bool:
    """Whether two characters may meet: one opens or is of a script without spaces."""
    return bool(_OPEN.match(left) or _NO_SPACES.match(left) or _NO_SPACES.match(right))


def _no_space(left: Part, answer: str) -> Iterator[Remark]:
    last, first = left.text[-1], answer[0]
    if last.isspace() or first.isspace() or _is_open(last, first) or {last, first} & set(_MADE_UP):
        return
    if not first.isalnum():
        return
    message = f"the answer {answer[:20]!r} follows {_named(left)} with no white space"
    yield Remark(
        NO_SPACE_AT_JOIN, "target_delimiter", message, _tail(left.text) + answer[:20], "", None, (_key(left),)
    )


def _scored(prompt: Prompt, parts: Sequence[Part], view: View, way: Way) -> Iterator[Remark]:
    """The choices, which are scored right behind the prompt."""
    choices = prompt.choices
    if (
        prompt.output_type != "multiple_choice"
        or not choices
        or not isinstance(prompt.text, str)
        or not parts
    ):
        return
    last, scored = parts[-1], way.scored
    if last.kind in ("separator", "system"):
        return  # the question is empty, and the choices hold all of it
    begun = last.kind == "template"
    before = prompt.text[-1:]
    for choice in map(str, choices):
        if not choice:
            continue
        if before.isspace() and (scored or choice)[0].isspace():
            key = "doc_to_choice" if not scored else _key(last) if not begun else "target_delimiter"
            what = "the chat template" if begun else _named(last)
            message = f"{what} ends in white space, and {scored + choice[:20]!r} is scored behind it"
            yield Remark(
                SPACE_ON_BOTH_SIDES,
                key,
                message,
                _tail(prompt.text) + scored + choice[:20],
                "",
                None,
                _CHOICE,
            )
        elif scored[-1:].isspace() and choice[0].isspace():
            message = f"{scored!r} stands before the choice {choice[:20]!r}, which begins with white space"
            yield Remark(
                SPACE_ON_BOTH_SIDES, "doc_to_choice", message, scored + choice[:20], "", None, _CHOICE
            )
        elif not scored and not begun and not view.as_chat:
            yield from _no_space(last, choice)
        else:
            continue
        return


_CHOICE = ("choices", "doc_to_choice", "doc_to_text")


def _examples(prompt: Prompt, parts: Sequence[Part], view: View, way: Way) -> Iterator[Remark]:
    """What examples show, beside what is scored."""
    shots: dict[int, list[Part]] = {}
    for part in parts:
        if part.origin.shot is not None:
            shots.setdefault(part.origin.shot, []).append(part)
    if not shots:
        return
    for shot in shots.values():
        asked = [part for part in shot if part.kind == "question"]
        if asked and not any(part.kind == "answer" for part in shot):
            in_turns = view.as_chat and view.multiturn
            if way.may_be_empty or (asked[0].text[-1].isspace() and not in_turns):
                continue
            follows = (
                "two user turns follow each other" if in_turns else "the next text is glued to its question"
            )
            message = f"an example has no answer, so {follows}"
            yield Remark(EMPTY_SHOT_TARGET, way.shot_target, message, _tail(asked[0].text))
            break
    folded = not view.as_chat or not view.multiturn
    if prompt.output_type == "multiple_choice" and folded and way.scored != way.shot_delimiter:
        message = f"the examples show {way.shot_delimiter!r} before an answer, and {way.scored!r} is scored"
        fix = (
            "show examples as turns of their own, or accept the difference knowingly" if view.as_chat else ""
        )
        yield Remark(
            SHOWN_DIFFERS_FROM_SCORED, "fewshot_config.target_delimiter", message, "", fix, None, _DELIMITED
        )


_DELIMITED = ("target_delimiter", "output_type", "doc_to_text", "prompt")


def _begins(part: Part, *, first: bool) -> Iterator[Remark]:
    found = _BOS.match(part.text) if first else None
    if found is not None:
        message = f"{_named(part)} begins with {found.group(1)}, which the tokenizer adds as well"
        yield Remark(DOUBLED_BOS, _key(part), message, part.text[:40])


def _twice_begun(text: str) -> Iterator[Remark]:
    first = _BOS.match(text)
    second = _BOS.match(text, first.end()) if first is not None else None
    if first is not None and second is not None:
        message = f"under the chat template the text begins with {first.group(1)}{second.group(1)}"
        yield Remark(DOUBLED_BOS, "description", message, text[:40], "", None, _NEAR)


def _repeated(left: Part, right: Part) -> Iterator[Remark]:
    """A phrase that ends one part and begins the next."""
    phrase = repeated_phrase(left.text, right.text)
    if phrase:
        message = f"{_named(left)} ends in {phrase!r}, and {_named(right)} begins with it"
        yield Remark(REPEATED_PHRASE, _key(right), message, phrase, "", None, (_key(left),))


def repeated_phrase(left: str, right: str) -> str:
    """The last sentence or line of a text, where the next text begins with it; empty where it does not.

    A phrase of one or two words is no repetition that anybody would see.
    """
    ended, begun = left.rstrip(), right[:_FAR].lstrip()
    if len(ended) < _SHORT or ended[-6:] not in begun:
        return ""
    starts = [found.end() for found in _SENTENCE.finditer(ended, max(0, len(ended) - _FAR))]
    if len(ended) <= _FAR:
        starts.insert(0, 0)
    for start in starts:
        phrase = ended[start:]
        if len(phrase) >= _SHORT and len(phrase.split()) >= _WORDS and begun.startswith(phrase):
            return "" if set(phrase) & set(_MADE_UP) else phrase
    return ""


def _named(part: Part) -> str:
    """What a part is called in a sentence."""
    key = part.origin.key
    if part.kind == "answer":
        return f"the answer ({key})" if key else "the answer"
    return key or {"system": "the system instruction"}.get(part.kind, f"the {part.kind}")


def _tail(text: str) -> str:
    return text[-20:]


def way_of(config: TaskConfig, scored: str, *, made_up: bool) -> Way:
    """How a template task joins its parts."""
    few, given = config.fewshot, config.fewshot_config
    overridden = isinstance(given, dict) and given.get("doc_to_target") is not None
    return Way(
        str(few.target_delimiter),
        scored,
        "fewshot_config.doc_to_target" if overridden else "doc_to_target",
        made_up and bool(few.doc_to_target),
    )
