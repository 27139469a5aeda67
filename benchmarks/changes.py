"""Comparisons of prompts beside libyaml and rapidfuzz, in one run.

    python benchmarks/changes.py [--pairs 100000] [--rounds 3] [--repository DIR]

Pairs: equal texts, one phrase in many, blank lines, and scattered words; compared and grouped in this process, beside
rapidfuzz's opcodes over the same pairs. History: `evalspec diff` over a clone of EleutherAI/lm-evaluation-harness,
named by --repository or `EVALSPEC_HARNESS_REPOSITORY`, as whole processes beside PyYAML's load over libyaml of the same
task files; cold means without a cache, and warm a second time.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from records import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TASKS = "lm_eval/tasks"
RELEASES = ("v0.4.8", "v0.4.9")
_Pair = tuple[dict[str, Any], dict[str, Any]]


# ── Pairs of prompts ─────────────────────────────────────────────────────────────────────────────────────────


def _part(kind: str, text: str, key: str, **more: int) -> dict[str, Any]:
    return {"kind": kind, "text": text, "origin": {"path": "a.yaml", "line": 3, "key": key, **more}}


def _line(number: int, description: str, texts: list[str], shots: int) -> dict[str, Any]:
    parts = [_part("description", description, "description")]
    for shot in range(shots):
        parts += [
            _part("question", f"Question: {texts[shot]}\nAnswer:", "doc_to_text", shot=shot, row=shot),
            _part("join", " ", "target_delimiter", shot=shot),
            _part("answer", texts[-1], "doc_to_target", shot=shot, row=shot),
            _part("separator", "\n\n", "fewshot_delimiter", shot=shot),
        ]
    parts.append(_part("question", f"Question: {texts[shots]}\nAnswer:", "doc_to_text", row=number))
    text = "".join(part["text"] for part in parts)
    request = {"type": "generate_until", "context": text, "generation": {"until": ["\n"]}}
    return {
        "task": f"task_{number // 100}", "row": number % 100, "text": text, "parts": parts, "target": "x",
        "shots": [*range(shots)], "choices": None, "requests": [request], "unknown": None,
    }  # fmt: skip


def pairs_of(count: int, shots: int, length: int) -> Iterator[_Pair]:
    """Pairs of lines: 55 % equal, 35 % with one more sentence, 5 % with a blank line, 5 % with other words."""
    chance = random.Random(7)

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    def scattered(words: str) -> str:
        changed = words.split(" ")
        for at in range(0, len(changed), 12):
            changed[at] = chance.choice(WORDS)
        return " ".join(changed)

    each = length // (shots + 1)
    for number in range(count):
        texts = [*(text(each) for _ in range(shots + 1)), text(3)]
        kind = chance.random()
        more = "Think step by step.\n" if 0.55 <= kind < 0.90 else "\n" if 0.90 <= kind < 0.95 else ""
        before = "Answer the question.\n"
        after = [*map(scattered, texts[:-1]), texts[-1]] if kind >= 0.95 else texts
        yield _line(number, before, texts, shots), _line(number, before + more, after, shots)


def compared(pairs: list[_Pair]) -> float:
    """Seconds to find the edits of all pairs and to group them."""
    from evalspec.diff.edits import edits_of
    from evalspec.diff.groups import Groups
    from evalspec.diff.model import Cause, Example
    from evalspec.errors import Place

    cause = Cause("task_file", Place("a.yaml", 3), Place("a.yaml", 3), "doc_to_text")
    began = time.process_time()
    groups = Groups()
    for before, after in pairs:
        for edit in edits_of(before, after):
            example = Example(before["task"], before["row"], "plain", before["text"], after["text"])
            groups.add(edit, cause, example)
    groups.sorted()
    return time.process_time() - began


def by_rapidfuzz(pairs: list[_Pair]) -> float:
    """Seconds for the opcodes of all pairs."""
    from rapidfuzz.distance import Levenshtein

    began = time.process_time()
    for before, after in pairs:
        Levenshtein.opcodes(before["text"], after["text"])
    return time.process_time() - began


def pairs(count: int, rounds: int) -> None:
    """The table of pairs."""
    print(f"### {count:,} pairs of prompts, beside rapidfuzz's opcodes over all of them\n")
    print("| prompts | µs a pair | rapidfuzz | ratio | goal |\n|---|--:|--:|--:|--:|")
    for name, shots, length, goal in (
        ("one question of 4,000 characters", 0, 720, "0.35"),
        ("five examples and a question, 4,000 characters in all", 5, 720, ""),
    ):
        made = list(pairs_of(count, shots, length))
        costs = [(compared(made), by_rapidfuzz(made)) for _ in range(rounds)]
        own, other = (statistics.median(values) / count * 1e6 for values in zip(*costs, strict=True))
        ratio = statistics.median(one / two for one, two in costs)
        print(f"| {name} | {own:.1f} | {other:.1f} | {ratio:.2f} | {goal} |")
    print()


# ── History ──────────────────────────────────────────────────────────────────────────────────────────────────


class _Loader(yaml.CSafeLoader):
    """PyYAML over libyaml, to which the harness's tags are nothing."""


_Loader.add_multi_constructor("!", lambda *_: None)


def load_of(repository: Path, revision: str) -> float:
    """Seconds that PyYAML's load takes for all task files of a revision, which git has read before."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", revision, "--", TASKS], cwd=repository, check=True, capture_output=True
    ).stdout.split(b"\0")[:-1]
    wanted = [line.split()[2] for line in listed if line.endswith((b".yaml", b"_yaml"))]
    data = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=repository, check=True, capture_output=True, input=b"\n".join(wanted)
    ).stdout  # fmt: skip
    files, at = [], 0
    for _ in wanted:
        line = data.index(b"\n", at)
        size = int(data[at:line].split()[2])
        files.append(data[line + 1 : line + 1 + size])
        at = line + size + 2
    began = time.perf_counter()
    for file in files:
        yaml.load(file, Loader=_Loader)  # noqa: S506 - a safe loader
    return time.perf_counter() - began


def timed(folder: Path, *words: str) -> float:
    """Seconds of one `evalspec diff`."""
    command = [sys.executable, "-m", "evalspec", "diff", *words, "--spec", "lm-eval", "--stat", "--no-pager"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    subprocess.run([*command, "--", TASKS], cwd=folder, check=True, capture_output=True, env=kept)
    return time.perf_counter() - began


def history(repository: Path, rounds: int) -> None:
    """The table of history, in a clone of the clone that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="evalspec-bench-") as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--shared", repository, clone], check=True)
        cache, task = clone / ".evalspec_cache", clone / TASKS / "mbpp/mbpp.yaml"
        task.write_text(task.read_text().replace("You are an expert", "You are one expert"))
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *author, "commit", "--quiet", "-am", "one file"], cwd=clone, check=True)
        task.write_text(task.read_text().replace("You are one expert", "You are some expert"))
        time.sleep(4)  # a file that has just been written is read again, to be sure of it
        cases: list[tuple[str, tuple[str, ...], Callable[[], float], str, str]] = [
            ("two releases", ("v0.4.8..v0.4.9",), lambda: sum(load_of(clone, each) for each in RELEASES), "60", "3"),
            ("one file, two revisions", ("HEAD^..HEAD",), lambda: load_of(clone, "HEAD"), "3", "0.5"),
            ("one file, the working tree", ("HEAD",), lambda: load_of(clone, "HEAD"), "3", "0.5"),
        ]  # fmt: skip
        print("### `evalspec diff` over lm-evaluation-harness, beside PyYAML's load over libyaml\n")
        print(
            "| compared | load, s | cold, s | × | goal | warm, s | × | goal |\n|---|--:|--:|--:|--:|--:|--:|--:|"
        )
        for said, words, load, cold_goal, warm_goal in cases:
            costs = []
            for _ in range(rounds):
                shutil.rmtree(cache, ignore_errors=True)
                costs.append((load(), timed(clone, *words), timed(clone, *words)))
            base, cold, warm = (statistics.median(values) for values in zip(*costs, strict=True))
            print(
                f"| {said} | {base:.2f} | {cold:.2f} | {cold / base:.1f} | {cold_goal} "
                f"| {warm:.2f} | {warm / base:.2f} | {warm_goal} |"
            )
        print()


def main() -> None:
    """Run what there is to run with."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repository", type=Path, default=os.environ.get("EVALSPEC_HARNESS_REPOSITORY"))
    args = parser.parse_args()
    pairs(args.pairs, args.rounds)
    if args.repository is None:
        print("### History: skipped, as EVALSPEC_HARNESS_REPOSITORY names no clone of the harness\n")
    else:
        history(args.repository, args.rounds)


if __name__ == "__main__":
    main()
