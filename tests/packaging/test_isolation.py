"""`recall` installed among packages of the same names, and run inside projects that carry such files."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
BOOM = "raise SystemExit('a foreign module got in')\n"


def foreign_wheel(folder: Path) -> Path:
    """A small distribution that ships a top-level `health`."""
    path = folder / "foreign_health-1.0-py3-none-any.whl"
    files = {
        "health/__init__.py": BOOM,
        "health/report.py": BOOM,
        "foreign_health-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: foreign-health\nVersion: 1.0\n",
        "foreign_health-1.0.dist-info/WHEEL": WHEEL,
    }
    record = "".join(f"{name},,\n" for name in [*files, "foreign_health-1.0.dist-info/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "foreign_health-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return path


def hostile_project(folder: Path) -> Path:
    (folder / "health").mkdir(parents=True)
    (folder / "health" / "__init__.py").write_text(BOOM, encoding="utf-8")
    for name in ("eval.py", "click.py", "json.py", "numpy.py"):
        (folder / name).write_text(BOOM, encoding="utf-8")
    return folder


class Environment:
    """A fresh virtual environment with the wheel in it."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        self.pip("install", str(wheel))

    def pip(self, *args: str) -> str:
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "-q", *args]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def recall(self, *args: str, cwd: Path, payload: str | None = None) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": "."}
        given = {"input": payload} if payload is not None else {"stdin": subprocess.DEVNULL}
        command = [str(self.python.with_name("recall")), *args]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, **given)  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("venv") / "v", built.wheel)


def test_plain_install_has_no_torch(installed):
    names = {line.split("==")[0].lower() for line in installed.pip("freeze").split()}

    assert "lca-recall" in names
    assert not names & {"torch", "transformers", "sentence-transformers"}


def test_runs_inside_a_project_with_modules_of_the_same_names(installed, tmp_path):
    project = hostile_project(tmp_path / "p")

    result = installed.recall("demo", cwd=project)

    assert result.returncode == 0, result.stderr
    assert "[recall " in result.stdout
    assert "foreign" not in result.stdout + result.stderr


def test_foreign_package_in_front_is_named_in_one_line(installed, tmp_path):
    """A .pth file puts a folder before site-packages, as editable installs of some tools do."""
    project = hostile_project(tmp_path / "p")
    site = next(installed.python.parents[1].glob("lib/python*/site-packages"))
    pth = site / "foreign.pth"
    pth.write_text(f"import sys; sys.path.insert(0, {str(project)!r})\n", encoding="utf-8")
    (project / "click.py").unlink()
    (project / "json.py").unlink()
    try:
        result = installed.recall("--version", cwd=tmp_path)
        hook = installed.recall("hook", "claude-code", cwd=tmp_path, payload="{}")
    finally:
        pth.unlink()

    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert str(project / "health") in result.stderr
    assert "pipx" in result.stderr
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")


def test_foreign_distribution_in_the_same_folder_is_named_until_recall_is_installed_again(built, tmp_path):
    environment = Environment(tmp_path / "v", built.wheel)
    environment.pip("install", str(foreign_wheel(tmp_path)))

    broken = environment.recall("--version", cwd=tmp_path)
    environment.pip("install", "--no-deps", "--force-reinstall", str(built.wheel))
    mended = environment.recall("--version", cwd=tmp_path)

    assert broken.returncode == 1
    assert broken.stderr.count("\n") == 1
    assert "another distribution that ships 'health'" in broken.stderr
    assert mended.returncode == 0
    assert mended.stdout.startswith("recall ")
