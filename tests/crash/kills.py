"""Kill `evalspec migrate` at random instants, over many JSONL and YAML files, and see that nothing is lost.

    python -m crash.kills KILLS FILES FOLDER [SEED]
    python -m crash.kills (SIGINT | SIGTERM) FILES FOLDER

prints a JSON list of what was found for each kill. A third of the kills comes at any time between the start of the
process and its end, a third while files are being prepared, a third while they are being replaced. After each, every
file must be its old self or its new self to the byte; then the run is finished, undone or started again through the
command line, and all files must be new, old, or new.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from evalspec.writing import is_ours
from evalspec.writing.journal import read

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "evalspec"]
AIMS = ("any time", "preparing", "replacing")
WAYS = ("recover", "recover --undo", "migrate")


def lay(folder: Path, count: int) -> dict[Path, bytes]:
    """Make `count` task files of v1 below `folder`, half of them YAML; their bytes."""
    import yaml

    lines = (ROOT / "fixtures/evalspec/v1/tasks.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    files: dict[Path, bytes] = {}
    for number in range(count):
        chosen = [dict(records[(number + step) % len(records)]) for step in range(2)]
        for record in chosen:
            record["task_id"] = f"{record['task_id']}_{number}"
        place = folder / f"part{number % 7}"
        if number % 2:
            text = "".join(f"{json.dumps(record, ensure_ascii=bool(number % 3))}\n" for record in chosen)
            files[place / f"{number}.jsonl"] = text.encode()
        else:
            text = yaml.safe_dump(chosen, sort_keys=False, allow_unicode=True)
            files[place / f"{number}.yaml"] = f"# file {number}\n{text}".encode()
    reset(folder, files)
    return files


def reset(folder: Path, files: dict[Path, bytes]) -> None:
    """Put back what is not as it was."""
    for path, data in files.items():
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    assert strays(folder) == []


def strays(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob(".*") if is_ours(path.name)]


def migrate(folder: Path) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "migrate", "--quiet", "--to", "v3", str(folder)]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=as_in_a_terminal,  # noqa: PLW1509 -- there are no threads
    )


def as_in_a_terminal() -> None:
    """A shell's background job, and all its children, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(*arguments: str, folder: Path) -> None:
    done = subprocess.run([*COMMAND, *arguments, str(folder)], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr.decode())


def journal_says(folder: Path, what: bytes) -> bool:
    try:
        return what in (folder / ".evalspec-journal").read_bytes()
    except OSError:
        return False


def wait_for(child: subprocess.Popen[bytes], folder: Path, what: bytes) -> float:
    """Wait until the journal says something, or the child ends; the time it took."""
    started = time.perf_counter()
    while child.poll() is None and not journal_says(folder, what):
        time.sleep(0.0002)
    return time.perf_counter() - started


def undisturbed(folder: Path) -> dict[str, float]:
    """How long the parts of a whole run take, in seconds."""
    child = migrate(folder)
    times = {"before": wait_for(child, folder, b"run"), "preparing": wait_for(child, folder, b'["go"')}
    started = time.perf_counter()
    assert child.wait() == 0, child.stderr and child.stderr.read().decode()
    times["replacing"] = time.perf_counter() - started
    times["any time"] = sum(times.values())
    return times


def kill_one(folder: Path, aim: str, delay: float) -> None:
    child = migrate(folder)
    if aim != "any time":
        wait_for(child, folder, b"run" if aim == "preparing" else b'["go"')
    until = time.perf_counter() + delay
    while child.poll() is None and (left := until - time.perf_counter()) > 0:
        time.sleep(min(left, 0.001))
    child.send_signal(signal.SIGKILL)
    _, told = child.communicate()
    assert child.returncode in {0, -signal.SIGKILL}, (child.returncode, told.decode())


def interrupt(kind: int, count: int, folder: Path) -> dict[str, object]:
    """Send SIGINT or SIGTERM while files are prepared: all old, or all new if it came late; nothing is left."""
    folder.mkdir(parents=True, exist_ok=True)
    old = lay(folder, count)
    child = migrate(folder)
    wait_for(child, folder, b'["ready",3')
    child.send_signal(kind)
    _, told = child.communicate()
    now = [path.read_bytes() == data for path, data in old.items()]
    return {
        "status": child.returncode,
        "told": told.decode(),
        "old": now.count(True),
        "new": now.count(False),
        "strays": strays(folder),
    }


def state_of(folder: Path, old: dict[Path, bytes], new: dict[Path, bytes]) -> tuple[str, int, int]:
    """Where the run was when it was killed, and how many files are old and new; any other bytes are a loss."""
    counts = [0, 0]
    for path, before in old.items():
        data = path.read_bytes()
        assert data in {before, new[path]}, f"{path} is neither its old nor its new self"
        counts[data == new[path]] += 1
    log = read(str(folder))
    if log is None:
        assert not (counts[0] and counts[1]), counts
        return "before it began" if counts[0] else "after its end", counts[0], counts[1]
    names = {"preparing": "preparing files", "go": "replacing files", "end": "tidying up", "undo": "undoing"}
    return names[log.state], counts[0], counts[1]


def main(kills: int, count: int, folder: Path, seed: int) -> list[dict[str, object]]:
    """Kill as often as asked, aiming at each part of the run in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    old = lay(folder, count)
    times = undisturbed(folder)
    new = {path: path.read_bytes() for path in old}
    assert all(new[path] != old[path] for path in old)
    found = []
    for number in range(kills):
        reset(folder, old)
        aim, way = AIMS[number % 3], WAYS[number // 3 % 3]
        # Files are replaced in the first moments after `go`; what follows is the end of the process.
        share = draw.random() ** (3 if aim == "replacing" else 1)
        kill_one(folder, aim, share * times[aim])
        where, olds, news = state_of(folder, old, new)
        if way == "migrate":
            finished("migrate", "--quiet", "--to", "v3", folder=folder)
        else:
            finished(*way.split(), folder=folder)
        after, olds_after, news_after = state_of(folder, old, new)
        assert strays(folder) == []
        assert not (olds_after and news_after), (where, way, after)
        if way == "migrate":
            assert olds_after == 0, where
        found.append(
            {"where": where, "old": olds, "new": news, "way": way, "all": "new" if news_after else "old"}
        )
    return found


if __name__ == "__main__":
    if sys.argv[1].startswith("SIG"):
        print(json.dumps(interrupt(getattr(signal, sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
        sys.exit()
    print(
        json.dumps(
            main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), int((sys.argv[4:] or ["1"])[0]))
        )
    )
