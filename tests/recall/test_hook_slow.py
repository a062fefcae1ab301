"""The hook on a bad day: a large index that is not in memory, and no processor free. How long it takes then is not
asked here (`recall eval latency` measures it), but that every turn ends by itself, says one thing and leaves its row.

Case recall-hook-timeout (c) and (d). Public references: thedotmack/claude-mem#3303; vshulcz/deja-vu#386.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.hooks import (
    PATIENCE_MS,
    SITE,
    client_command,
    counted,
    payload,
    project,
    remember,
    run_client,
)

from indexer.store import Store
from indexer.words_table import refill
from transcript.workspace import Workspace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="needs a system that can drop a file from memory"),
]
QUESTION = "on which port listens the invoice gateway"
CHUNKS = 50_000


@pytest.fixture
def workspace(data: Path) -> Workspace:
    return remember(
        data,
        project(),
        ("Which port does the invoice gateway listen on?", "The invoice gateway listens on port 7443."),
        embed=False,
    )


def grow(path: Path) -> None:
    """Add chunks of made-up words around those that are there, each with its pointer."""
    rng = random.Random(7)
    words = [f"{a}{b}" for a in ("port", "gate", "way", "list", "serv", "log", "cach") for b in range(400)] + ["port"]
    with Store.open(path, "w") as store:
        (session,) = next(iter(store.run("SELECT id FROM session_1")))
        (event,) = next(iter(store.run("SELECT max(id) FROM event_1")))
        with store.transaction():
            for number in range(CHUNKS):
                text = " ".join(rng.choices(words, k=40))
                store.run(
                    "INSERT INTO chunk_1 VALUES (?, ?, 0, 1, 60, ?)",
                    (1000 + number, number.to_bytes(16, "big"), text),
                )
                store.run("INSERT INTO event_1 (id, event) VALUES (?, ?)", (event + 1 + number, f"e{number:025}"))
                store.run(
                    "INSERT INTO pointer_1 (chunk_id, event, start, session, end, exchange, ts, kind, seq)"
                    " VALUES (?, ?, 0, ?, ?, 0, 1767225600, 2, ?)",
                    (1000 + number, event + 1 + number, session, len(text), 1000 + number),
                )
            store.run("UPDATE generation SET n_chunks = n_chunks + ?", (CHUNKS,))
        with store.transaction():
            refill(store.run, store.packing, 1)
        store.checkpoint()


def forget(path: Path) -> None:
    """Drop a file from the system's memory."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def test_a_large_index_that_is_not_in_memory_is_answered_or_left_and_counted(data, workspace):
    grow(workspace.index_path)
    forget(workspace.index_path)

    hurried = run_client(data, payload(QUESTION, session_id="a"), RECALL_HOOK_DEADLINE_MS="1000")
    left = counted(data)
    forget(workspace.index_path)
    patient = run_client(data, payload(QUESTION, session_id="b"))

    assert (hurried.code, hurried.err, patient.code, patient.err) == (0, b"", 0, b"")
    assert "7443" in hurried.context or (hurried.out == b"" and left)
    assert "7443" in patient.context
    assert counted(data) == left


def test_with_every_processor_taken_the_hook_still_ends_by_itself(data, workspace):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        turns = [
            run_client(data, payload(QUESTION, session_id=str(n)), RECALL_HOOK_DEADLINE_MS="1000") for n in range(5)
        ]
    finally:
        for process in busy:
            process.kill()
            process.wait()

    assert [(ran.code, ran.err) for ran in turns] == [(0, b"")] * 5
    assert all(not ran.out or "7443" in ran.context for ran in turns)
    assert len([ran for ran in turns if not ran.out]) <= sum(counted(data).values())


@pytest.mark.parametrize("words", [["hook", "claude-code"], []], ids=["recall hook", "bare recall on a pipe"])
def test_the_command_does_what_the_launcher_does(words, data, workspace, monkeypatch):
    monkeypatch.setenv("RECALL_HOME", str(data))
    patient = f"from recall import hook_client; hook_client.LONGEST_DEADLINE_MS = {PATIENCE_MS}"
    code = f"import sys; {patient}; from recall.cli.main import main; sys.exit(main())"

    by_command = run_client(
        data,
        payload(QUESTION, session_id="a"),
        command=[sys.executable, "-I", "-c", code, *words],
        RECALL_HOOK_DEADLINE_MS=str(PATIENCE_MS),
    )
    by_launcher = run_client(data, payload(QUESTION, session_id="b"), command=client_command(data, site=SITE))

    assert (by_command.code, by_command.err) == (0, b"")
    assert by_command.out == by_launcher.out != b""
