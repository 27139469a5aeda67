"""What is built is what works: the wheel in an empty environment far from the checkout, and the sdist."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.cli import Cli, clean_environment
from support.registry import run_with_registry

SPEC_FOLDERS = ("schemas", "migrations", "fixtures")

ASK_WHERE = r"""
import sys
from evalspec.project import spec_root
import evalspec
valid, errors = evalspec.validate_file(sys.argv[1])
module = sys.modules["evalspec.spec.evalspec.v1"]
print(*spec_root(), sep="\n")
print(module.__file__)
"""

V1_TASK = {
    "task_id": "capital_fr",
    "category": "mcq",
    "prompt": "Which city is the capital of France?\u2028A. Lyon B. París C. Lille\nAnswer:",
    "targets": ["B"],
    "metric_name": "exact_match",
    "few_shot_examples": [{"prompt": "Which is a prime?\nA. 8 B. 9 C. 7\nAnswer:", "completion": "C"}],
    "post_process": "extract_letter",
}


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def spec_files(root: Path) -> dict[str, bytes]:
    """Every file of the three folders, by its path from the top."""
    paths = [path for folder in SPEC_FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from that sdist, as a release does it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, root, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that had nothing before the wheel and its dependencies went in."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    run_with_registry(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder.parent)
    return folder / "bin"


@pytest.fixture
def v1_file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(V1_TASK, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def test_wheel_carries_the_specification_byte_for_byte(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        prefix = "evalspec/spec/"
        shipped = {
            name.removeprefix(prefix): archive.read(name)
            for name in archive.namelist()
            if name.startswith(prefix)
        }
    expected = spec_files(root)
    assert expected
    assert {name: shipped.get(name) for name in expected} == expected


def test_wheel_has_the_package_and_nothing_beside_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "evalspec/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"evalspec", wheel.name.rsplit("-", 3)[0] + ".dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_wheel_has_the_parts_of_the_page_of_changes(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if name.startswith("evalspec/report/html/")}
    parts = (root / "migrator/evalspec/report/html").iterdir()
    assert shipped == {f"evalspec/report/html/{part.name}" for part in parts}
    assert "evalspec/report/html/page.html" in shipped


def test_sdist_has_tests_and_fixtures(root: Path, built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "Makefile", "README.md", "tests/packaging/test_wheel.py", "tests/conftest.py"} <= names
    assert set(spec_files(root)) <= names


def test_installed_command_says_its_version(root: Path, installed: Path, tmp_path: Path) -> None:
    source = (root / "migrator/evalspec/_version.py").read_text(encoding="utf-8")
    by_script = run(installed / "evalspec", "--version", cwd=tmp_path)
    by_module = run(installed / "python", "-m", "evalspec", "--version", cwd=tmp_path)
    assert by_script == by_module
    assert f'__version__ = "{by_script.split()[-1]}"' in source


def test_installed_command_migrates_a_file(installed: Path, v1_file: Path) -> None:
    cli = Cli(v1_file.parent, command=(str(installed / "evalspec"),))
    before = cli("render", v1_file.name)
    code, out, err = cli("migrate", "--to", "v3", v1_file.name)
    assert (code, err) == (0, ""), out
    after = cli("render", v1_file.name)
    task = json.loads(v1_file.read_text(encoding="utf-8"))
    assert task["spec_version"] == 3
    assert task["prompt"] == V1_TASK["prompt"]
    assert before.code == 0
    assert before.out == after.out
    assert cli("check", "--require", "v3", v1_file.name).code == 0


def test_installed_command_makes_a_project(installed: Path, tmp_path: Path) -> None:
    cli = Cli(tmp_path, command=(str(installed / "evalspec"),))
    assert cli("init", "--name", "acme").code == 0
    assert cli("check", "--no-base").code == 0
    assert cli("revision", "-m", "more").code == 0
    assert cli("check", "--no-base").code == 0


def test_installed_tool_reads_its_own_copy_of_the_specification(installed: Path, v1_file: Path) -> None:
    *folders, module = run(installed / "python", "-c", ASK_WHERE, v1_file, cwd=v1_file.parent).splitlines()
    packages = run(
        installed / "python",
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=v1_file.parent,
    ).strip()
    assert [Path(folder) for folder in folders] == [
        Path(packages, "evalspec/spec", name) for name in SPEC_FOLDERS
    ]
    assert Path(module) == Path(packages, "evalspec/spec/schemas/evalspec/v1.py")


def test_checkout_reads_the_top_level(root: Path, v1_file: Path) -> None:
    *folders, module = run(sys.executable, "-c", ASK_WHERE, v1_file, cwd=v1_file.parent).splitlines()
    assert [Path(folder) for folder in folders] == [root / name for name in SPEC_FOLDERS]
    assert Path(module) == root / "schemas" / "evalspec" / "v1.py"


def test_editable_wheel_has_no_copy_that_could_go_stale(root: Path, tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_editable; print(build_editable(sys.argv[1]))"
    name = run(sys.executable, "-c", build, tmp_path, cwd=root).strip().splitlines()[-1]
    with zipfile.ZipFile(tmp_path / name) as archive:
        files = [file for file in archive.namelist() if ".dist-info/" not in file]
        assert [Path(file).suffix for file in files] == [".pth"]
        assert archive.read(files[0]).decode().strip() == str(root / "migrator")
