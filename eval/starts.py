"""A project with a standing context as it grows: 292 files of memories, three of them critical, identity and role.

What `recall eval latency --starts` times: the start of a session that is told who it is.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from consolidation import standing_set
from consolidation.settings import Settings
from transcript.workspace import Workspace, init

FILES, NESTED, CRITICAL = 292, 62, 3
_IDENTITY = {
    "IDENTITY.md": "# Identity\n\nYou keep the shop's API running. You write briefly and ask before you push.\n",
    "instructions/release.md": "# Releases\n\nReleases go out on Tuesdays. The changelog is written before the tag.\n",
    "instructions/tests.md": "# Tests\n\nEvery fault gets a test that fails without its repair.\n",
    "commands/ship.md": "---\ndescription: Ship the shop\n---\nRun make ship.\n",
    "skills/review/SKILL.md": "---\nname: review\ndescription: Review a change\n---\nRead the whole diff first.\n",
}


def standing_project(scratch: Path, home: Path) -> Workspace:
    """Make the project and its workspace below a data folder, with the standing context put together."""
    root = scratch / "starts"
    root.mkdir()
    workspace = init(root, home)
    for name, text in _IDENTITY.items():
        _write(root / ".recall" / "identity" / name, text)
    _write(home / "identity" / "USER.md", "# User\n\nAna. She wants short answers and no emoji.\n")
    folder = scratch / "memories"
    for number in range(FILES):
        _write(folder / f"memory-{number:03d}.md", _memory(number))
    settings = Settings()
    settings = replace(settings, memory=replace(settings.memory, folders=str(folder)))
    standing_set.after_apply(workspace, settings, now=datetime.now(UTC))
    return workspace


def _memory(number: int) -> str:
    keys = [f"type: project\nlast_applied: 2026-0{1 + number % 9}-11"]
    keys += ["critical: true"] if number >= FILES - CRITICAL else []
    head = "\n".join(keys)
    if number >= FILES - NESTED:
        head = "metadata:\n  " + head.replace("\n", "\n  ")
    return f"---\nname: memory-{number}\n{head}\n---\n\nModule {number} listens on port {8000 + number}.\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
