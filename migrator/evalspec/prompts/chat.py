"""Chat templates in the style of Hugging Face: built-ins, `.jinja` files, `tokenizer_config.json`.

They run as transformers runs them: block lines trimmed, loop controls, `{% generation %}`, `raise_exception`,
`strftime_now` (with a clock that stands still), a `tojson` that escapes nothing for HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, did_you_mean, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: What follows the text of a begun answer while a template is rendered, so that its end can be found again. It is the
#: mark that transformers itself puts there: a template that shows or measures an answer twice then does the same.
_MARK = "CONTINUE_FINAL_MESSAGE_TAG "

#: The moment that `strftime_now` always says it is.
FROZEN_NOW = (2025, 1, 1, 12, 0, 0)
#: The names by which templates ask for the date; where the second is not given, they fall back to one of their own.
_CLOCK = frozenset({"strftime_now", "date_string"})

BUILT_IN: dict[str, str] = {
    "chatml": (
        "{% for message in messages %}"
        "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    ),
    "headers": (
        "{% for message in messages %}"
        "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] + '<|eot_id|>' }}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"
    ),
    "inst": (
        "{% set ns = namespace(before='') %}"
        "{% for message in messages %}"
        "{% if message['role'] == 'system' %}"
        "{% set ns.before = ns.before + message['content'] + '\\n\\n' %}"
        "{% elif message['role'] == 'user' %}"
        "{{ '[INST] ' + ns.before + message['content'] + ' [/INST]' }}{% set ns.before = '' %}"
        "{% else %}{{ ' ' + message['content'] + '</s>' }}{% endif %}"
        "{% endfor %}"
    ),
    "strict": (
        "{% set ns = namespace(turn=0) %}"
        "{% for message in messages %}"
        "{% if message['role'] == 'system' %}"
        "{% if not loop.first %}{{ raise_exception('a system message comes first or not at all') }}{% endif %}"
        "{% else %}"
        "{% if message['role'] != ['user', 'assistant'][ns.turn % 2] %}"
        "{{ raise_exception('user and assistant must take turns, the user first') }}{% endif %}"
        "{% set ns.turn = ns.turn + 1 %}"
        "{% endif %}"
        "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' }}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
    ),
}


class ChatText(NamedTuple):
    """A rendered chat, and what its reader should know."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template and the special tokens it may name.

    Attributes:
        name: what it was asked for as.
        source: the Jinja text.
        tokens: `bos_token`, `eos_token` and the like, as the template sees them.
    """

    name: str
    source: str
    tokens: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def clock(self) -> tuple[str, ...]:
        """The names by which it asks for the date: what it shows is another text on another day."""
        from jinja2 import TemplateError

        from evalspec.prompts.chat_environment import names_in

        if not any(name in self.source for name in _CLOCK):
            return ()
        try:
            return tuple(sorted(_CLOCK & names_in(self.source)))
        except TemplateError:
            return ()  # it is told of where it is rendered

    def apply(self, messages: Sequence[Mapping[str, Any]], *, add_generation_prompt: bool = True) -> ChatText:
        """The chat as text. A final assistant message is continued: the text ends right after its content.

        Where the template refuses the messages, they are tried once more without system messages, as the harness
        does, and a note says so.

        Raises:
            jinja2.TemplateError: the template refuses the messages.
            ValueError: a message to be continued does not appear in the text.
        """
        from jinja2 import TemplateError

        try:
            return ChatText(self._render(messages, add_generation_prompt))
        except TemplateError as problem:
            spoken = [message for message in messages if message["role"] != "system"]
            note = f"the chat template refused the messages ({problem}); they were given without the system message"
            return ChatText(self._render(spoken, add_generation_prompt), (note,))

    def _render(self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool) -> str:
        render = _renderer(self.source)
        chat = [dict(message) for message in messages]
        goes_on = bool(chat) and chat[-1]["role"] == "assistant"
        begun = ""
        if goes_on:
            begun = chat[-1]["content"]
            if "content" not in self.source:
                raise ValueError("the chat template reads no content, so no answer can be continued")
            chat[-1]["content"] = begun + _MARK
        text = render(
            {
                **self.tokens,
                "messages": chat,
                "tools": None,
                "documents": None,
                "add_generation_prompt": add_generation_prompt and not goes_on,
            }
        )
        if not goes_on:
            return text
        if begun.strip() not in text or _MARK.strip() not in text:
            raise ValueError("the answer to be continued does not appear in the chat template's text")
        end = text.rindex(_MARK.strip())
        return text[:end] if text[end : end + len(_MARK)] == _MARK else text[:end].rstrip()


@lru_cache(maxsize=64)
def _renderer(source: str) -> Callable[[Mapping[str, Any]], str]:
    """A function that renders one chat template within the limits."""
    from evalspec.prompts.chat_environment import chat_renderer

    return chat_renderer(source)


def chat_template(name: str, read: Callable[[str], bytes | None] | None = None) -> ChatTemplate:
    """The chat template that `--chat NAME|PATH[#NAME]` or a view's `chat` names.

    Args:
        name: a built-in's name; the path of a `.jinja` file; or the path of a `tokenizer_config.json`, after which
            `#NAME` picks one of its templates (else the one called `default`, or the only one).
        read: reads a file by its path, None where there is none; the file system by default.

    Raises:
        UsageError: no such template.
    """
    if name in BUILT_IN:
        return ChatTemplate(name, BUILT_IN[name])
    read = read or _read_file
    path, _, wanted = name.partition("#")
    if not path.endswith((".jinja", ".jinja2", ".json")):
        raise UsageError(
            f"no chat template {visible(name)!r}",
            fix=did_you_mean(name, list(BUILT_IN))
            or f"name one of {', '.join(BUILT_IN)}, a .jinja file, or a tokenizer_config.json",
        )
    data = read(path)
    if data is None:
        raise UsageError(f"no chat template file {visible(path)}", fix="check the path")
    text = _decoded(path, data)
    folder = path[: path.rfind("/") + 1]
    if not path.endswith(".json"):
        if wanted:
            raise UsageError(f"{visible(path)} is one template; #{visible(wanted)} names none in it")
        return ChatTemplate(name, text, _tokens_beside(folder, read))
    config = _json_object(path, text)
    templates = _templates_of(config, folder, read)
    if not templates:
        raise UsageError(f"{visible(path)} holds no chat template", fix="name a .jinja file instead")
    if not wanted and "default" not in templates and len(templates) == 1:
        wanted = next(iter(templates))
    chosen = wanted or "default"
    if chosen not in templates:
        raise UsageError(
            f"{visible(path)} has no chat template called {visible(chosen)!r}",
            fix=f"its templates are: {', '.join(visible(each) for each in templates)}",
        )
    return ChatTemplate(name, templates[chosen], _tokens(config))


def _templates_of(
    config: Mapping[str, Any], folder: str, read: Callable[[str], bytes | None]
) -> dict[str, str]:
    """A tokenizer configuration's templates by name."""
    found = config.get("chat_template")
    if isinstance(found, str):
        return {"default": found}
    if isinstance(found, dict):
        return {str(key): value for key, value in found.items() if isinstance(value, str)}
    if isinstance(found, list):
        return {
            str(each["name"]): each["template"]
            for each in found
            if isinstance(each, dict) and isinstance(each.get("template"), str) and "name" in each
        }
    beside = read(f"{folder}chat_template.jinja")
    return {} if beside is None else {"default": _decoded(f"{folder}chat_template.jinja", beside)}


def _tokens(config: Mapping[str, Any]) -> dict[str, Any]:
    """The special tokens of a tokenizer configuration, as a template sees them."""
    tokens: dict[str, Any] = {}
    for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"):
        value = config.get(f"{name}_token")
        if isinstance(value, dict):
            value = value.get("content")
        if isinstance(value, str):
            tokens[f"{name}_token"] = value
    return tokens


def _tokens_beside(folder: str, read: Callable[[str], bytes | None]) -> dict[str, Any]:
    """The special tokens of the tokenizer whose files lie in the same folder as a template file."""
    tokens: dict[str, Any] = {}
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        data = read(folder + name)
        if data is not None:
            tokens |= _tokens(_json_object(folder + name, _decoded(folder + name, data)))
    return tokens


def _json_object(path: str, text: str) -> Mapping[str, Any]:
    import json

    try:
        value = json.loads(text)
    except ValueError as problem:
        raise UsageError(f"{visible(path)} is not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{visible(path)} holds no JSON object")
    return value


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{visible(path)} is not UTF-8") from None


def _read_file(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
