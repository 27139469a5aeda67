"""Edit every YAML file of lm-evaluation-harness in place, and show that no other byte moved.

    python benchmarks/yaml_corpus.py [--wheels DIR] [--versions 0.4.13 …] [--sample N]

The wheels are fetched with pip unless DIR holds them. Each edit is judged without the code that made it: the bytes
on either side of the changed node (its span as PyYAML marks it) must be the old ones, and PyYAML must read from the
new bytes what the edit means on the old values. The speed is that of a whole edit, bytes in and bytes out, beside
ruamel.yaml's round-trip load and dump of the same files in the same run. Exits 1 where a file came out different.
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

from evalspec.errors import FormatError
from evalspec.formats.edits import Edit, Insert, Remove, Rename, Replace
from evalspec.formats.yaml import LM_EVAL, EditRefused, RecordKey, edit

VERSIONS = ("0.4.13", "0.4.2", "0.4.5", "0.4.9")
TEXT = "Question: {{question}}\nLet us think.\n\nAnswer:"


class Reader(yaml.CSafeLoader):
    """PyYAML's safe loader that keeps unknown tags."""


def _tagged(loader: Any, suffix: str, node: Any) -> tuple[str, Any]:
    build = {"scalar": loader.construct_scalar, "sequence": loader.construct_sequence}
    return ("!" + suffix, build.get(node.id, loader.construct_mapping)(node))


Reader.add_multi_constructor("!", _tagged)


class File(NamedTuple):
    """One file of the corpus."""

    name: str
    data: bytes
    root: Any
    value: Any


class Operation(NamedTuple):
    """One edit: what it is called, the key it needs (None: any mapping), the edit, and what it means on plain data."""

    kind: str
    path: tuple[str, ...]
    edit: Edit
    apply: Callable[[dict[str, Any]], Any]


def _rename(old: str, new: str) -> Operation:
    def apply(value: dict[str, Any]) -> Any:
        return {new if key == old else key: item for key, item in value.items()}

    return Operation("rename a key", (old,), Rename((old,), new), apply)


def _set(kind: str, path: tuple[str, ...], new: Any) -> Operation:
    def apply(value: dict[str, Any]) -> Any:
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = new
        return value

    return Operation(kind, path, Replace(path, new), apply)


def _remove(key: str) -> Operation:
    def apply(value: dict[str, Any]) -> Any:
        del value[key]
        return value

    return Operation("remove a key", (key,), Remove((key,)), apply)


OPERATIONS = (
    _rename("task", "task_name"),
    _rename("group", "tag"),
    _rename("include", "base"),
    Operation(
        "append a key", (), Insert(("note_of_ours",), "x: y"), lambda value: {**value, "note_of_ours": "x: y"}
    ),
    _set("set a top-level scalar", ("output_type",), "loglikelihood"),
    _set("set a top-level scalar", ("test_split",), "held out: yes"),
    _set("set a top-level scalar", ("dataset_name",), "010"),
    _set("set a nested scalar", ("metadata", "version"), 99),
    _set("set a multi-line text", ("doc_to_text",), TEXT),
    _set("set a multi-line text", ("description",), TEXT + "\n"),
    _remove("metadata"),
    _remove("dataset_name"),
    _remove("task"),
)


def corpus(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Every YAML file of a wheel: by its ending, by its name, or because an `include` names it."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        wanted = {
            name
            for name in names
            if name.endswith((".yaml", ".yml", "_yaml")) or PurePosixPath(name).name.startswith("_default")
        }
        for name in sorted(wanted):
            for target in re.findall(rb"^include:[ ]*['\"]?([^'\"#\n]+)", archive.read(name), re.MULTILINE):
                parts: list[str] = []
                for part in (PurePosixPath(name).parent / target.decode().strip()).parts:
                    parts = parts[:-1] if part == ".." else [*parts, part]
                if "/".join(parts) in names and not target.strip().endswith(b".py"):
                    wanted.add("/".join(parts))
        for name in sorted(wanted):
            if not name.endswith((".py", ".md", ".json", ".txt")):
                yield name, archive.read(name)


def load(wheels: list[Path]) -> list[File]:
    """The corpus, with what PyYAML makes of it."""
    files = []
    for wheel in wheels:
        for name, data in corpus(wheel):
            text = data.decode()
            root, value = yaml.compose(text, Reader), yaml.load(text, Reader)  # noqa: S506 - a safe loader
            files.append(File(f"{wheel.name}:{name}", data, root, value))
    return files


def node_at(root: Any, path: tuple[str, ...]) -> tuple[Any, Any] | None:
    """The key's and the value's node at a path: of a key given twice the last."""
    found = None
    for step in path:
        if root is None or root.id != "mapping":
            return None
        found = next(((key, value) for key, value in reversed(root.value) if key.value == step), None)
        if found is None:
            return None
        root = found[1]
    return found


def found(file: File, operation: Operation) -> tuple[Any, Any]:
    """The nodes that an operation is about, in a file that is a case of it."""
    nodes = node_at(file.root, operation.path)
    assert nodes is not None
    return nodes


def skipped(file: File, operation: Operation) -> bool:
    """Whether the file is no case of the operation: no such key, a tagged, anchored or aliased value, a taken name."""
    if not isinstance(file.value, dict):
        return True
    if isinstance(operation.edit, Rename) and operation.edit.key in file.value:
        return True
    if not operation.path:
        return False
    nodes = node_at(file.root, operation.path)
    if nodes is None:
        return True
    if isinstance(operation.edit, Replace):
        start = nodes[1].start_mark.index
        return file.data.decode()[start : start + 1] in {"!", "&", "*"}
    return False


def outside_kept(file: File, operation: Operation, result: bytes) -> bool:
    """Whether all bytes but those of the changed node are the old ones."""
    old, new = file.data.decode(), result.decode()
    match operation.edit:
        case Rename():
            key, _ = found(file, operation)
            before, after = key.start_mark.index, key.end_mark.index
        case Replace():
            _, value = found(file, operation)
            before, after = value.start_mark.index, value.end_mark.index
            after = before + len(old[before:after].rstrip())  # a block's mark is behind its blank lines
            if "\n" in str(operation.edit.value):  # a block text begins on its key's line
                before = len(old[:before].rstrip())
        case Insert():
            before = new.index("note_of_ours:")
            line = 'note_of_ours: "x: y"\n'
            return new == f"{old[:before]}{line}{old[before:]}" or (
                old[-1:] != "\n" and new == f"{old}\n{line}".removesuffix("\n")
            )
        case _:
            return removed_well(old, new, file, operation)
    return new.startswith(old[:before]) and new.endswith(old[after:])


def removed_well(old: str, new: str, file: File, operation: Operation) -> bool:
    """Whether what is gone is one run of whole lines: the key's, and comments directly above it."""
    key, value = found(file, operation)
    if new == "{}\n" or (len(file.value) == 1 and new.endswith("{}\n")):
        return True
    gone = len(old) - len(new)
    start = key.start_mark.index
    lines = old[:start].split("\n")
    first = start
    while True:
        if (
            old[first : first + gone]
            and old[:first] + old[first + gone :] == new
            and (not first or old[first - 1] == "\n")
        ):
            above = old[first:start].split("\n")[:-1]
            behind = old[value.end_mark.index : max(first + gone, value.end_mark.index)].strip()
            return all(line.startswith("#") for line in above) and (not behind or behind.startswith("#"))
        lines = lines[:-1]
        if not lines or not lines[-1].startswith("#"):
            return False
        first -= len(lines[-1]) + 1


def means(file: File, operation: Operation, result: bytes) -> bool:
    """Whether PyYAML reads from the result what the edit means, in the same order."""
    wanted = operation.apply(yaml.load(file.data, Reader))  # noqa: S506 - a safe loader
    found = yaml.load(result, Reader)  # noqa: S506 - a safe loader
    return repr(wanted) == repr(found)


def fetch(versions: list[str], folder: Path) -> list[Path]:
    """The wheels, fetched where the folder lacks them."""
    wheels = []
    for version in versions:
        wheel = folder / f"lm_eval-{version}-py3-none-any.whl"
        if not wheel.exists():
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
            subprocess.run([*command, f"lm-eval=={version}"], check=True)
        wheels.append(wheel)
    return wheels


def judge(files: list[File]) -> bool:
    """Print a row an operation; whether no file came out different."""
    print("| edit | files having the key | exact | refused | different |")
    print("|---|---|---|---|---|")
    totals: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    for operation in OPERATIONS:
        count = totals.setdefault(operation.kind, Counter())
        for file in files:
            if skipped(file, operation):
                continue
            count["files"] += 1
            try:
                result = edit(file.data, [(RecordKey(), [operation.edit])], dialect=LM_EVAL)
            except (EditRefused, FormatError) as error:
                count["refused"] += 1
                reasons[f"{operation.kind}: {getattr(error, 'reason', error)}"] += 1
                continue
            good = outside_kept(file, operation, result) and means(file, operation, result)
            count["exact" if good else "different"] += 1
            if not good:
                print(f"different: {operation.kind} {operation.path} {file.name}", file=sys.stderr)
    for kind, count in totals.items():
        share = f"{count['exact']:,} ({100 * count['exact'] / count['files']:.2f} %)"
        print(f"| {kind} | {count['files']:,} | {share} | {count['refused']:,} | {count['different']:,} |")
    for reason, number in reasons.most_common():
        print(f"refused {number}: {reason}")
    return not any(count["different"] for count in totals.values())


def race(files: list[bytes], rounds: int = 5) -> None:
    """Print how much faster an edit is than ruamel.yaml's load and dump, on the same files in the same rounds."""
    from ruamel.yaml import YAML

    round_trip = YAML()
    round_trip.preserve_quotes = True
    round_trip.allow_duplicate_keys = True
    round_trip.width = 1 << 20
    changes = [(RecordKey(), [Insert(("note_of_ours",), "x: y")])]
    ours, theirs = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        for data in files:
            edit(data, changes, dialect=LM_EVAL)
        middle = time.perf_counter()
        for data in files:
            round_trip.dump(round_trip.load(data), io.BytesIO())
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
    ratio = statistics.median(their / our for our, their in zip(ours, theirs, strict=True))
    per_file = statistics.median(ours) / len(files) * 1e6
    print(
        f"\nan edit, parsed again and compared: {per_file:.0f} µs a file, {ratio:.1f} × faster than ruamel.yaml's"
    )
    print(f"load and dump ({len(files):,} files, median of {rounds} rounds)")


def main() -> int:
    """Run the table and the race; 1 where a file came out silently different."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--wheels", type=Path, help="a folder with the wheels, or where to put them")
    parser.add_argument("--versions", nargs="+", default=list(VERSIONS))
    parser.add_argument("--sample", type=int, default=25, help="race on every Nth file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            wheels = fetch(options.versions, options.wheels or Path(folder))
        except subprocess.CalledProcessError:
            print("SKIPPED: lm-eval could not be fetched; is there a package registry?", file=sys.stderr)
            return 0
        files = load(wheels)
        print(f"{len(files):,} YAML files of lm-eval {', '.join(options.versions)}\n")
        good = judge(files)
        sample = [file.data for file in files if isinstance(file.value, dict)][:: options.sample]
        del files  # or collecting garbage would be most of what is measured
        race(sample)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
