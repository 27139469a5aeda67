# ruff: noqa: PTH115, PTH118, PTH119, PTH120
"""What the crash tests run: folders of task files, each with a run over them."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalspec.writing import Run, identify, is_ours, open_part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JSONL_OLD = b'{"task_id": "a", "category": "exact_match", "prompt": "caf\xc3\xa9 ?"}\r\n' * 40
YAML_OLD = "# kept\n- task_id: a\n  prompt: 'wie heißt das?'  # also kept\n".encode() * 20


def upgraded(data: bytes) -> bytes:
    """The new bytes of a file: longer, so that neither is a beginning of the other."""
    return data.replace(b"task_id", b"spec_version: 2, task_id") + b"\n"


@dataclass
class Scene:
    """A folder with task files, and a run over it.

    Attributes:
        name: what it is about.
        files: the task files, by path relative to the folder.
        links: symlinks, by path, and where they point.
        new: files that the run makes.
        untouched: files that it prepares and then leaves alone.
        options: of the run.
        parts: write each file as two parts of workers.
        always: errors that some system calls always end in.
    """

    name: str
    files: dict[str, bytes]
    links: dict[str, str] = field(default_factory=dict)
    new: dict[str, bytes] = field(default_factory=dict)
    untouched: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    parts: bool = False
    always: dict[str, int] = field(default_factory=dict)

    def lay(self, base: Path) -> Path:
        """Lay the files out below `base` and return the folder of the run, `base/project`."""
        folder = base / "project"
        folder.mkdir(parents=True)
        for path, data in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o640)
            os.utime(target, (1e9, 1e9))  # long ago, so that every change shows in the time
        for path, to in self.links.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(to)
        return folder

    def reset(self, folder: Path) -> None:
        """Give a laid folder its old bytes again, whatever happened to it."""
        for path, data in self.files.items():
            if not (folder / path).exists() or (folder / path).read_bytes() != data:
                (folder / path).unlink(missing_ok=True)
                (folder / path).write_bytes(data)
                (folder / path).chmod(0o640)
                os.utime(folder / path, (1e9, 1e9))
        for path in self.new:
            (folder / path).unlink(missing_ok=True)
        backup = folder.parent / "backup"
        for path in sorted(backup.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        if backup.exists():
            backup.rmdir()

    def targets(self) -> list[str]:
        """The paths as a user names them: through the symlinks where there are any."""
        behind = {
            os.path.normpath(os.path.join(os.path.dirname(path), to)) for path, to in self.links.items()
        }
        seen_through = [path for path in self.files if not any(_below(path, one) for one in behind)]
        return [*seen_through, *self.link_targets()]

    def link_targets(self) -> list[str]:
        found = []
        for path, to in self.links.items():
            behind = os.path.normpath(os.path.join(os.path.dirname(path), to))
            found += [path + file.removeprefix(behind) for file in self.files if _below(file, behind)]
        return found

    def runner(self, folder: Path, atomic: str) -> Callable[[], Any]:
        """The run, as something to do in a child; its result is what was recovered on the way."""

        def run() -> Any:
            options = dict(self.options)
            if "backup" in options:
                options["backup"] = folder.parent / options["backup"]
            with Run(folder, atomic=atomic, wait=0, **options) as work:  # type: ignore[arg-type]
                for name in self.targets():
                    path = folder / name
                    seen = identify(path)
                    data = path.read_bytes()
                    if b"spec_version" in data:
                        continue  # twice is once
                    data = upgraded(data)
                    with work.prepare(path, seen=seen) as out:
                        if self.parts:
                            self._in_parts(work, path, out, data)
                        else:
                            out.write(data[:100])
                            out.write(data[100:])
                    if name in self.untouched:
                        work.discard(path)
                for name, data in self.new.items():
                    if not (folder / name).exists():
                        with work.prepare(folder / name, new=True) as out:
                            out.write(data)
                work.commit()
                return work.recovered.outcome

        return run

    @staticmethod
    def _in_parts(work: Run, path: Path, out: Any, data: bytes) -> None:
        half = len(data) // 2
        with open_part(out.path) as first:
            first.write(data[:half])
        part = work.part(path)
        with open_part(part) as second:
            second.write(data[half:])
        out.copy_from(part)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


class State:
    """What lies in a scene's folder now, looked at from outside."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene = scene
        self.folder = folder
        self.bytes = {
            name: (folder / name).read_bytes() if (folder / name).exists() else None
            for name in [*scene.files, *scene.new]
        }

    def count(self) -> tuple[int, int]:
        """How many of the files to be replaced are old and how many new; any other bytes are an error."""
        old = new = 0
        for name, data in self.bytes.items():
            if name in self.scene.new:
                assert data in (None, self.scene.new[name]), f"{name} is neither missing nor whole"
                old, new = (old + 1, new) if data is None else (old, new + 1)
                continue
            before = self.scene.files[name]
            assert data is not None, f"{name} is gone"
            assert data in (before, upgraded(before)), f"{name} is neither its old nor its new self"
            mode = stat.S_IMODE((self.folder / name).stat().st_mode)
            assert mode == 0o640, f"{name} has mode {mode:o}"
            if name in self.scene.untouched:
                assert data == before
                continue
            old, new = (old + 1, new) if data == before else (old, new + 1)
        for path in (self.folder.parent / "backup").rglob("*.*"):
            if not is_ours(path.name):
                name = str(path.relative_to(self.folder.parent / "backup"))
                assert path.read_bytes() == self.scene.files[name], f"the backup of {name} is not whole"
        for path, to in self.scene.links.items():
            assert os.readlink(self.folder / path) == to, f"{path} is no longer a symlink to {to}"
        return old, new

    def strays(self) -> list[str]:
        """What is there besides the task files, beside symlinked ones too; backups are meant to stay."""
        known = {
            os.path.normpath(self.folder / n) for n in [*self.scene.files, *self.scene.new, *self.scene.links]
        }
        found = []
        for place, _, names in os.walk(self.folder.parent):
            if place != str(self.folder.parent / "backup") and "/backup/" not in place:
                found += [path for name in names if (path := os.path.join(place, name)) not in known]
        return sorted(found)

    def only_ours(self) -> bool:
        """Whether everything that is there besides is a run's own and so known to the journal."""
        return all(is_ours(os.path.basename(path)) for path in self.strays())


MANY = {
    "a.jsonl": JSONL_OLD,
    "b.yaml": YAML_OLD,
    "deep/er/c.jsonl": JSONL_OLD,
    "left_alone.jsonl": JSONL_OLD,
}

SCENES = {
    scene.name: scene
    for scene in (
        Scene("one file", {"a.jsonl": JSONL_OLD}),
        Scene("many files", MANY, untouched=("left_alone.jsonl",)),
        Scene(
            "symlinks",
            {"a.jsonl": JSONL_OLD, "../elsewhere/b.yaml": YAML_OLD, "../folder/deep/c.jsonl": JSONL_OLD},
            links={"b.yaml": "../elsewhere/b.yaml", "linked": "../folder"},
        ),
        Scene("part files", {"a.jsonl": JSONL_OLD, "b.jsonl": JSONL_OLD * 2}, parts=True),
        Scene("a new file", {"a.jsonl": JSONL_OLD}, new={"made.md": b"# made\n"}),
        Scene("backups", {"a.jsonl": JSONL_OLD, "sub/b.yaml": YAML_OLD}, options={"backup": "backup"}),
        Scene("no hard links", {"a.jsonl": JSONL_OLD, "b.yaml": YAML_OLD}, always={"link": errno.EPERM}),
        Scene(
            "no swapped names", {"a.jsonl": JSONL_OLD, "b.yaml": YAML_OLD}, always={"exchange": errno.EINVAL}
        ),
        Scene(
            "neither, nor hard links",
            {"a.jsonl": JSONL_OLD, "b.yaml": YAML_OLD},
            always={"exchange": errno.EINVAL, "rename_new": errno.EINVAL, "link": errno.EPERM},
        ),
    )
}
