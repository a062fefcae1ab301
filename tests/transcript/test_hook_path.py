"""What the hook's client may import: the standard library and nothing heavy."""

import subprocess
import sys
from pathlib import Path

import pytest

import transcript

ROOT = Path(transcript.__file__).resolve().parents[1]
MODULES = ["errors", "canonical", "paths", "lock", "workspace", "event", "log", "idmap", "spool", "segments", "context"]
HEAVY = {
    "asyncio",
    "logging",
    "zstandard",
    "tomllib",
    "platformdirs",
    "subprocess",
    "sqlite3",
    "uuid",
    "multiprocessing",
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_on_the_hook_path_need_the_standard_library_alone(name):
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import transcript.{name}; print(*sorted(sys.modules))"

    shown = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True).stdout

    loaded = {module.split(".")[0] for module in shown.split()}
    assert loaded - set(sys.stdlib_module_names) == {"transcript", "__main__"} - set(sys.stdlib_module_names)
    assert not loaded & HEAVY
