"""How the index and the turns go wrong without a noise: each fault planted in a healthy project."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np

from eval.planted_project import DIMENSION, HARNESS, Project
from eval.planting import remember
from eval.swapped import Swapped
from indexer import damage, passages, rebuild, tokens, writer
from indexer.store import Store
from recall.harness import Payload
from recall.hook_client import COUNTERS
from recall.hook_turn import HookTurn, Means
from recall.settings import Settings
from recall.turn import bytes_third
from transcript.errors import LockBusy
from transcript.event import stamp
from transcript.injected import OPEN_PHRASE

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"  # shaped like a token, and none


def nothing(project: Project) -> None:
    """Plant nothing: the project's model is the fault."""


def words_short(project: Project) -> None:
    """Take the words of five passages out of the index of words."""
    project.damage(damage.lose_words, 5)


def other_model(project: Project) -> None:
    """Let the model be another than the one that made the vectors."""
    project.embedder = replace(project.embedder, revision="2")


def no_direction(project: Project) -> None:
    """Make two vectors zero."""
    with Store.open(project.workspace.index_path, "w") as store, store.transaction():
        two = sorted(store.vectors.ids())[:2]
        store.vectors.remove(two)
        store.vectors.add(two, np.zeros((2, DIMENSION), dtype=np.float32))


def future_stamp(project: Project) -> None:
    """Take in a prompt of a harness whose clock is ten years ahead."""
    body = {"kind": "prompt", "text": "When is the next inspection?"}
    said = project.event("session-ahead", "conversation_turn", body, actor="user")
    project.tell(replace(said, ts=stamp(project.now + timedelta(days=3650))))
    project.index()


def locked_store(project: Project) -> None:
    """Hold the index's write lock while an exchange comes in, so that nothing of it can be indexed."""
    project.say("session-late", "Which valve leaks?", "The third valve from the left.")
    with Store.open(project.workspace.index_path, "w") as store, damage.locked(store):
        _fails(lambda: writer.index(project.workspace, store, project.settings, now=project.now))


def words_only(project: Project) -> None:
    """Index an exchange, and let no vectors follow."""
    project.say("session-late", "Which valve leaks?", "The third valve from the left.")
    with Store.open(project.workspace.index_path, "w") as store:
        writer.index(project.workspace, store, project.settings, now=project.now, embedder=project.embedder)


def killed_twice(project: Project) -> None:
    """Let a passage have killed the process twice."""
    project.damage(damage.kill_twice)


def lost_passage(project: Project) -> None:
    """Lose a passage whose vector stays."""
    project.damage(damage.lose_passage)


def other_dimension(project: Project) -> None:
    """Let the model be one with vectors of half the length."""
    project.embedder = replace(project.embedder, id="smaller", dimension=DIMENSION // 2)


def unfinished_rebuild(project: Project) -> None:
    """Begin a rebuild that is stopped before it is whole, and go on with it never."""
    with Store.open(project.workspace.index_path, "w") as store:
        other = replace(project.settings, chunk_chars=project.settings.chunk_chars // 2)
        made = replace(project.embedder, revision="2")
        rebuild.rebuild(
            project.workspace,
            store,
            other,
            now=project.now,
            embedder=made,
            should_stop=lambda: True,
        )


def failed_event(project: Project) -> None:
    """Lose the long text of a reply before it is indexed."""
    project.say("session-late", "What is known of the valves?", "They are tight. " * 4000)
    next(path for path in project.workspace.blobs_dir.rglob("*") if path.is_file()).unlink()
    project.index()


def own_text(project: Project) -> None:
    """Let a prompt that quotes a block of recall's have been indexed by something that cuts no blocks out."""
    block = f"[recall 1a2b3c4d]{OPEN_PHRASE}\n1. The anchor of pump 0 stands at 0.\n[/recall 1a2b3c4d]"
    project.say("session-late", f"Is this still so?\n{block}", "It is.")
    with Swapped(passages, "block_spans", lambda text: []):
        project.index()


def client_text(project: Project) -> None:
    """Take twenty notices of a client for prompts, as after an upgrade that changed its wrapping."""
    for number in range(20):
        notice = f"<system-reminder>The todo list has {number} entries.</system-reminder>"
        project.tell(project.event("session-late", "conversation_turn", {"kind": "prompt", "text": notice}))
    project.index()


def said_secret(project: Project) -> None:
    """Let a person paste a credential, and the agent repeat it."""
    project.say("session-late", f"Use {SECRET} for the pump's site.", f"I use {SECRET} from now on.")
    project.index()


def failing_counter(project: Project) -> None:
    """Let the token counter fail while a session is indexed."""
    project.say("session-late", "Which valve leaks?", "The third valve from the left.")
    with Swapped(tokens, "_encoding", lambda: None):
        project.index()


# Turns -------------------------------------------------------------------------------------------------------------


def replaced_statement(project: Project) -> None:
    """Replace a memory, lose what the index knows of that, and ask for it."""
    spans = []
    for minute, port in enumerate((5432, 5433)):
        said_at = stamp(project.now - timedelta(minutes=9 - minute))
        spans.append(remember(project, f"The staging pump listens on port {port}.", said_at=said_at))
    old, new = ({"event": event, "start": 0, "end": 9, "hash": "0" * 16} for event in spans)
    body = {"of": old, "by": new, "reason": "newer"}
    project.tell(project.event("session-rules", "memory.superseded", body, actor="system"))
    project.index()
    project.damage(damage.forget_replacements)
    ask(project, "Which port does the staging pump listen on?")


def cut_search(project: Project) -> None:
    """Ask for what every passage holds."""
    ask(project, "What is the setting of the anchor and the bearing of each pump?")


def useless_query(project: Project) -> None:
    """Ask something of which the model makes a vector without a direction."""
    ask(project, "Which port does the staging pump listen on?", note="vector_unusable")


def missed_deadline(project: Project) -> None:
    """Let a turn run out of time in its search."""
    _count(project, "deadline:words:search")


def failed_search(project: Project) -> None:
    """Let a turn find the index unreadable."""
    _count(project, "words_index_unreadable")


def refused_payload(project: Project) -> None:
    """Let a hook be given what is no JSON."""
    _count(project, "payload_not_json")


def ask(project: Project, prompt: str, *, note: str = "") -> None:
    """Let a session ask, as a hook does that has no service."""
    payload = Payload(HARNESS, "UserPromptSubmit", "session-asking", str(project.root), prompt=prompt)
    turn = HookTurn(payload, project.data, mode="words", call="1", now=project.now, started=time.monotonic())
    with Store.open(project.workspace.index_path) as store:
        turn.answer(Means(store, bytes_third, meta=store.meta(), note=note), Settings())
    turn.record()


def _count(project: Project, kind: str) -> None:
    """Count a failure of the hook at the project's own time."""
    with (project.data / COUNTERS).open("a", encoding="ascii") as file:
        file.write(f"{project.now.timestamp():.0f}\t{HARNESS}\t{kind}\n")


def _fails(what: Callable[[], object]) -> None:
    """Do something that must be refused because another process writes."""
    try:
        what()
    except LockBusy:
        return
    raise AssertionError("the index was written although it was locked")
