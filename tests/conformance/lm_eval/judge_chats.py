"""Renders chats with transformers, the way the harness's Hugging Face model does. Run by test_chat_templates.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from judge import chat_function


def answer(source: str, chat: list[dict]) -> list[str]:
    begun = chat[-1]["role"] == "assistant"
    try:
        return ["text", chat_function(source)(chat, add_generation_prompt=not begun)]
    except Exception as problem:  # noqa: BLE001 - its kind is the answer
        return ["error", type(problem).__name__]


def main(asked: str, said: str) -> None:
    job = json.loads(Path(asked).read_text(encoding="utf-8"))
    made = {
        name: [answer(source, chat) for chat in job["chats"]] for name, source in job["templates"].items()
    }
    Path(said).write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
