"""What a session was shown, and who answers when a hook runs twice."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from support.book import NOW

from recall import turnstate
from recall.turnstate import TurnState, prune


def test_what_was_injected_is_remembered_until_a_compaction(tmp_path: Path) -> None:
    TurnState(tmp_path, "s1").settle(["a", "b"])
    TurnState(tmp_path, "s1").settle(["b", "c"])

    before = TurnState(tmp_path, "s1").begin("x", now=NOW)
    TurnState(tmp_path, "s1").clear()
    after = TurnState(tmp_path, "s1").begin("y", now=NOW)

    assert before == {"a", "b", "c"}
    assert after == frozenset()


def test_a_folder_that_cannot_be_written_to_is_no_reason_to_stay_silent(tmp_path: Path) -> None:
    (tmp_path / "turns").touch()  # nobody, root neither, can make a file in there
    state = TurnState(tmp_path, "s1")

    assert state.begin("x", now=NOW) == frozenset()
    state.settle(["a"])
    state.clear()


def test_sessions_do_not_see_each_other(tmp_path: Path) -> None:
    TurnState(tmp_path, "s1").settle(["a"])

    assert TurnState(tmp_path, "s2").begin("x", now=NOW) == frozenset()


def test_two_identical_simultaneous_calls_have_one_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstate, "LOCK_SECONDS", 60.0)  # who gets no lock in time answers, and a busy machine is slow
    results: list[object] = []
    ready = threading.Barrier(8)

    def call() -> None:
        ready.wait()
        results.append(TurnState(tmp_path, "s1").begin("same prompt", now=NOW))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(r is None for r in results) == [False] + [True] * 7


def test_another_prompt_a_later_time_or_another_call_is_no_twin(tmp_path: Path) -> None:
    state = TurnState(tmp_path, "s1")

    first = state.begin("p", now=NOW, call="1")
    twin = state.begin("p", now=NOW + timedelta(seconds=1), call="1")
    others = [
        state.begin("q", now=NOW + timedelta(seconds=1), call="1"),
        state.begin("p", now=NOW + timedelta(seconds=1), call="2"),
        state.begin("p", now=NOW + timedelta(seconds=7), call="1"),
    ]

    assert first is not None
    assert twin is None
    assert None not in others


def test_without_a_session_nothing_is_remembered_and_twins_are_still_told_apart(tmp_path: Path) -> None:
    TurnState(tmp_path, "", cwd="/p").settle(["a"])

    assert TurnState(tmp_path, "", cwd="/p").begin("x", now=NOW) == frozenset()
    assert TurnState(tmp_path, "", cwd="/p").begin("x", now=NOW) is None
    assert TurnState(tmp_path, "", cwd="/q").begin("x", now=NOW) == frozenset()


def test_a_damaged_state_counts_as_empty(tmp_path: Path) -> None:
    state = TurnState(tmp_path, "s1")
    state.settle(["a"])
    state.path.write_bytes(b'{"injected": 3')

    assert state.begin("x", now=NOW) == frozenset()
    assert state.path.stat().st_mode & 0o077 == 0


def test_a_lock_that_is_held_does_not_silence_the_turn(tmp_path: Path) -> None:
    from transcript.lock import FileLock

    state = TurnState(tmp_path, "s1")
    state.settle(["a"])
    held = FileLock(state.path.with_suffix(".lock"))
    assert held.acquire(1.0)

    assert state.begin("x", now=NOW) == {"a"}
    held.release()


def test_states_of_silent_sessions_are_removed(tmp_path: Path) -> None:
    TurnState(tmp_path, "s1").settle(["a"])

    assert prune(tmp_path, now=NOW - timedelta(days=9000)) == 0
    assert prune(tmp_path, now=NOW + timedelta(days=9000)) == 1
    assert not list((tmp_path / "turns").iterdir())
