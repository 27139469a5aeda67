"""The name under which the harness keeps a task's requests (prompting.md, "The request cache key")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.prompts.view import View


def cache_key(task: str, num_fewshot: int | None, view: View) -> str:
    """The key of a task's requests under a view.

    What is not in it (the seed, the task's text and version, the generation settings, the data) does not make the
    harness build the requests anew.
    """
    key = f"requests-{task}-{num_fewshot}shot-rank{view.rank}-world_size{view.world_size}"
    if view.as_chat:
        key += "-chat_template"
        if view.multiturn:
            key += "-fewshot_as_multiturn"
    if view.system is not None:
        from hashlib import sha256

        key += f"-system_prompt_hash{sha256(view.system.encode()).hexdigest()}"
    return f"{key}-tokenizer{view.tokenizer_name if view.as_chat else ''}"


#: What every cache file's name ends with: a constant of the harness, the SHA-256 of its own name.
_SUFFIX_OF = b"EleutherAI-lm-evaluation-harness"
_LONGEST_NAME = 240


def cache_file(key: str) -> str:
    """The name of the file that the harness keeps a key's requests in; long ones are cut and get a hash."""
    import re
    from hashlib import sha256

    suffix = f".{sha256(_SUFFIX_OF).hexdigest()}.pickle"
    safe = re.sub(r"[/\\]+", "_", key)
    if len((safe + suffix).encode()) <= _LONGEST_NAME:
        return safe + suffix
    tail = f"-{sha256(key.encode()).hexdigest()[:16]}{suffix}"
    head = safe.encode()[: _LONGEST_NAME - len(tail)].decode(errors="ignore").rstrip("-_.") or "cache"
    return head + tail
