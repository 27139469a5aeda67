"""One prompt as a page: its parts with their origins, white space visible; what is asked for; a task's settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalspec.errors import visible
from evalspec.report.token_marks import LEGEND, pieces, told_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalspec.prompts.lm_eval.places import ResolvedValue

_LONGEST = 2000


def prompt_page(data: Mapping[str, Any]) -> str:
    """The page of one line of `evalspec render --format json`."""
    rows = "no row" if data["row"] is None else f"row {data['row']}"
    made_up = ", a placeholder" if data.get("placeholder") else ""
    version = "-" if data["version"] is None else data["version"]
    name, view = visible(str(data["task"])), visible(str(data["view"]))
    shown = f"{name} · {data['schema']} · version {visible(str(version))} · view {view} · {rows}{made_up}"
    out = [f"{shown}\n{visible(str(data['path']))}:{data['line']}\n"]
    if data.get("unknown"):
        out.append(f"\nunknown: {visible(data['unknown'])}\n")
    if data.get("error"):
        error = data["error"]
        out.append(f"\nerror: {visible(error['type'])}: {visible(error['message'])}\n")
    parts = data["parts"] or ()
    tokens = data if data.get("tokens") else None
    texts = pieces(tokens) if tokens else [(part["text"], False) for part in parts]
    for part, (text, over) in zip(parts, texts, strict=True):
        out.append(f"\n{part['kind']}{_origin(part['origin'])}\n{_block(text)}")
        if over:
            out.append("    ‿ a token reaches over this join\n")
    requests = data["requests"] or ()
    told = told_requests(tokens) if tokens else {}
    if requests:
        out.append("\nasked for\n")
    for request in requests:
        said = request.get("generation", request.get("continuation"))
        if isinstance(said, str):
            said = told.get((request["context"] or "", said), said)
        shown = json.dumps(said, ensure_ascii=False, default=str)
        behind = " without the prompt" if request["context"] == "" else ""
        out.append(f"    {request['type']}{behind} {visible(shown)}\n")
    if tokens:
        out.append(f"\n{LEGEND}\n")
    if data.get("target") is not None:
        out.append(f"\ntarget {visible(json.dumps(data['target'], ensure_ascii=False, default=str))}\n")
    return "".join(out)


def settings_page(values: Iterable[ResolvedValue]) -> str:
    """A task's settings, one a line, each with its origin."""
    from evalspec.prompts.lm_eval.listing import plain_value

    out = []
    for each in values:
        shown = json.dumps(plain_value(each.value), ensure_ascii=False)
        if len(shown) > _LONGEST:
            shown = f"{shown[:_LONGEST]}…"
        origin = str(each.place) if each.place is not None else visible(each.origin)
        out.append(f"{visible(each.key)}: {visible(shown)}\n    {origin}\n")
    return "".join(out)


def _origin(origin: Mapping[str, Any]) -> str:
    """Where a part comes from, in words."""
    said = []
    if "shot" in origin:
        said.append(f"example {origin['shot'] + 1}")
    if "key" in origin:
        said.append(visible(origin["key"]))
    if "row_column" in origin:
        said.append(f"column {visible(origin['row_column'])}")
    if "rule" in origin:
        said.append(visible(origin["rule"]))
    if "path" in origin:
        said.append(f"{visible(origin['path'])}:{origin['line']}:{origin['column']}")
    return "".join(f" · {each}" for each in said)


def _block(text: str) -> str:
    """A text with its white space visible: a space at an end of a line is `·`, a line end `↵`, a tab `→`."""
    lines = text.split("\n")
    out = []
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        if last and not line and number:
            break
        body = line.strip(" ")
        lead = len(line) - len(line.lstrip(" "))
        shown = "·" * len(line) if not body else "·" * lead + body + "·" * (len(line) - lead - len(body))
        out.append(f"    {visible(shown.replace(chr(9), '→'))}{'' if last else '↵'}\n")
    return "".join(out)
