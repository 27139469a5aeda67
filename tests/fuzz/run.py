"""`make fuzz`: let a coverage-guided fuzzer loose on both readers and both writers, for a bounded time.

    python tests/fuzz/run.py [--seconds N] [TARGET…]

It starts from the seeds in `corpus/` and writes nothing there. An input that breaks a promise is printed and kept in
`build/fuzz/`; put it into `corpus/<target>/` once it is fixed, where `test_corpus.py` replays it for good.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOUND = HERE.parents[1] / "build" / "fuzz"
NAMES = ("json_reader", "json_writer", "yaml_reader", "yaml_writer")


def fuzz(name: str, arguments: list[str]) -> None:
    """Run one target in this process; libFuzzer ends it."""
    import atheris  # type: ignore[import-untyped]

    sys.path.insert(0, str(HERE.parent))
    with atheris.instrument_imports(include=["evalspec"]):
        from fuzz import targets

        target = targets.TARGETS[name]
        # What is imported late is imported now, while imports are followed.
        for seed in sorted((HERE / "corpus" / name).iterdir()):
            target(seed.read_bytes())

    def one_input(data: bytes) -> None:
        target(data)

    atheris.Setup([sys.argv[0], *arguments], one_input)
    atheris.Fuzz()


def start(name: str, seconds: int) -> int:
    """Fuzz one target in a child, so that a hang or a crash of the interpreter is a finding too."""
    FOUND.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch, name)
        shutil.copytree(HERE / "corpus" / name, corpus)
        limits = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=1024", f"-max_total_time={seconds}"]
        report = [f"-artifact_prefix={FOUND}/{name}-", "-print_final_stats=1"]
        command = [sys.executable, str(HERE / "run.py"), "--child", name, str(corpus), *limits, *report]
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    runs = next((line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed" in line), "0")
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
    print(f"{name}: {runs} inputs in {seconds} s, {'a promise broke' if done.returncode else 'all held'}")
    return int(done.returncode != 0)


def main() -> int:
    """The command line of the fuzzer; 1 where a target found something, 2 where there is no fuzzer."""
    if sys.argv[1:2] == ["--child"]:
        fuzz(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description="Fuzz the readers and writers for a bounded time.")
    parser.add_argument("--seconds", type=int, default=60, help="how long, for each target (default: 60)")
    parser.add_argument("target", nargs="*", choices=[[], *NAMES], help="which ones (default: all)")
    options = parser.parse_args()
    try:
        import atheris  # noqa: F401
    except ImportError:
        print("fuzz: atheris is not installed here: pip install '.[fuzz]'", file=sys.stderr)
        return 2
    return max([start(name, options.seconds) for name in options.target or NAMES])


if __name__ == "__main__":
    sys.exit(main())
