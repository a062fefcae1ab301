"""Takes a dialogue into a workspace of its own through the shipped capture, index and vectors, and keeps it.

Where the same dialogue was indexed with the same settings before, it is opened as it stands; what was broken off is
made anew.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from eval.dataset import ASSISTANT, PERSON, Dialogue
from eval.vector_cache import CachedEmbedder
from indexer.queue import embed
from indexer.segment import SEGMENTATION_VERSION
from indexer.settings import IndexSettings, config_hash
from indexer.store import Store
from indexer.writer import index
from recall.version import VERSION
from transcript.adapters.wire import Wire
from transcript.capture import sync
from transcript.log import Log
from transcript.settings import CaptureSettings
from transcript.workspace import Workspace, open_workspace

LAYOUT = 2  # raised when the way a dialogue is taken in changes
_DONE = "turns.json"


@dataclass(frozen=True, slots=True)
class OpenDialogue:
    """A dialogue's open index, and the turn that each event of its record was."""

    store: Store
    turn_of: Mapping[str, str]
    session_of: Mapping[str, str]


@contextmanager
def opened(
    dialogue: Dialogue, cache: Path, *, embedder: CachedEmbedder | None, settings: IndexSettings, now: datetime
) -> Iterator[OpenDialogue]:
    """Open a dialogue's index, made first where the cache has none. Without an embedder there are words alone."""
    folder = cache / "dialogues" / _key(dialogue, embedder, settings)
    if not (folder / _DONE).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _take_in(dialogue, folder, embedder, settings, now)
    workspace = open_workspace(folder / "project", folder, create="capture")
    turn_of = json.loads((folder / _DONE).read_text(encoding="utf-8"))
    session_of = {turn.id: turn.session for turn in dialogue.turns}
    with Store.open(workspace.index_path) as store:
        yield OpenDialogue(store, turn_of, session_of)


def _take_in(
    dialogue: Dialogue, folder: Path, embedder: CachedEmbedder | None, settings: IndexSettings, now: datetime
) -> None:
    project = folder / "project"
    project.mkdir(parents=True)
    workspace = open_workspace(project, folder, create="capture")
    files = folder / "wire"
    write_wire(dialogue, files, project)
    sync(
        workspace, folder, {}, sources=files, adapters=(Wire(),), all_roots=True, now=now,
        settings=CaptureSettings(native=False),
    )  # fmt: skip
    with Store.open(workspace.index_path, "w") as store:
        index(workspace, store, settings, now=now, embedder=embedder, record=False)
        if embedder is not None:
            done = embed(store, embedder, settings)
            if done.refused:
                raise ValueError(done.refused)
    ids = turns_of(workspace)
    lost = {turn.id for turn in dialogue.turns} - set(ids.values())
    if lost:
        raise ValueError(f"dialogue {dialogue.id}: {len(lost)} turns are not in the record, {min(lost)} the first")
    (folder / _DONE).write_text(json.dumps(ids), encoding="utf-8")


def write_wire(dialogue: Dialogue, folder: Path, cwd: Path) -> None:
    """Write one wire file a session: people's turns as prompts with their speaker, an assistant's as replies."""
    folder.mkdir(parents=True, exist_ok=True)
    sessions: dict[str, list[str]] = {}
    for turn in dialogue.turns:
        lines = sessions.setdefault(turn.session, [])
        if not lines:
            session = f"{dialogue.id}/{turn.session}"
            lines.append(_line({"recall_wire": 1, "tool": "dataset", "session": session, "cwd": str(cwd)}))
        kind = "reply" if turn.role == ASSISTANT else "prompt"
        line = {"type": kind, "id": turn.id, "ts": turn.said.isoformat(), "text": turn.text}
        lines.append(_line({**line, "speaker": turn.speaker} if turn.role == PERSON else line))
    for number, lines in enumerate(sessions.values()):
        (folder / f"{number:04}.jsonl").write_text("".join(lines), encoding="utf-8")


def turns_of(workspace: Workspace) -> dict[str, str]:
    """Event id -> id of the turn it was."""
    return {e.id: str(e.native.get("id", "")) for e in Log(workspace).read() if e.type == "conversation_turn"}


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _key(dialogue: Dialogue, embedder: CachedEmbedder | None, settings: IndexSettings) -> str:
    turns = [asdict(turn) for turn in dialogue.turns]
    model = (embedder.id, embedder.revision, config_hash(settings, max_tokens=embedder.max_tokens)) if embedder else ()
    made_by = (LAYOUT, VERSION, SEGMENTATION_VERSION, model, asdict(settings))
    text = json.dumps([dialogue.id, turns, made_by], default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
