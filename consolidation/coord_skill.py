"""The skill text that tells an agent how to use the shared memory, and the schema it names."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from transcript.paths import write_once

FILES = ("SKILL.md", "references/coord_memory_schema.md")


@dataclass(frozen=True, slots=True)
class Written:
    """Files that were written, and those that hold something else and were left."""

    written: tuple[Path, ...]
    left: tuple[Path, ...]


def texts() -> dict[str, str]:
    """Return the files of the skill by their names in its folder."""
    shipped = files("consolidation") / "references"
    return {name: (shipped / name.rsplit("/", 1)[-1]).read_text("utf-8") for name in FILES}


def written(folder: Path, found: Mapping[str, str]) -> Written:
    """Write the files of the skill into a folder; what is there and says something else is left."""
    made: list[Path] = []
    left: list[Path] = []
    for name, text in found.items():
        path = folder / name
        if path.is_file() and path.read_text("utf-8", "replace") == text:
            continue
        if path.exists() or path.is_symlink():
            left.append(path)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_once(path, text.encode())
        made.append(path)
    return Written(tuple(made), tuple(left))
