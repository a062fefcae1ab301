"""The list of sessions that are never captured, as the hook writes it and capture reads it."""

import json
import multiprocessing
import stat

import pytest

from transcript import kept_out
from transcript.kept_out import CHILD, OPTED_OUT, keep_out, opts_out, session_in

ID = b"80b5532c-e69c-5fb2-87a1-88437a0a9d12"


@pytest.mark.parametrize(
    ("payload", "session"),
    [
        (b'{"session_id":"abc","prompt":"x"}', b"abc"),
        (b'{"prompt":"x",\r\n\t"session_id" : "abc"}', b"abc"),
        (json.dumps({"prompt": 'say "session_id": "other"', "session_id": "abc"}).encode(), b"abc"),
        (b'{"kind":"session_id","session_id":"abc"}', b"abc"),
        (b'{"sessionId":"abc","prompt":"x"}', b"abc"),
        (b'{"conversation_id":"abc","generation_id":"x"}', b"abc"),
        (b'{"session_id":7}', b""),
        (b'{"prompt":"x"}', b""),
        (b"", b""),
        (b"\xff\xfe\x00", b""),
    ],
    ids=[
        "first",
        "blanks",
        "quoted in a prompt",
        "a value",
        "camel case",
        "cursor",
        "a number",
        "none",
        "empty",
        "no text",
    ],
)
def test_the_session_is_found_without_parsing(payload, session):
    assert session_in(payload) == session


def test_a_session_stands_in_the_list_once_with_its_first_reason(tmp_path):
    for reason in (OPTED_OUT, OPTED_OUT, CHILD):
        assert keep_out(str(tmp_path), ID, reason)
    keep_out(str(tmp_path), b"another", CHILD)

    assert kept_out.kept_out(tmp_path) == {ID.decode(): OPTED_OUT, "another": CHILD}
    assert (tmp_path / kept_out.LIST).read_bytes().count(b"\n") == 2
    assert stat.S_IMODE((tmp_path / kept_out.LIST).stat().st_mode) == 0o600


@pytest.mark.parametrize("odd", [b"", b" ", b"two words", b"line\nline", b"x" * 201])
def test_what_is_no_id_is_refused(odd, tmp_path):
    assert not keep_out(str(tmp_path), odd, CHILD)
    assert kept_out.kept_out(tmp_path) == {}


def test_an_id_that_ends_in_another_is_another(tmp_path):
    keep_out(str(tmp_path), b"a-b", CHILD)
    keep_out(str(tmp_path), b"b", CHILD)

    assert set(kept_out.kept_out(tmp_path)) == {"a-b", "b"}


def test_a_line_that_was_torn_off_costs_itself_alone(tmp_path):
    (tmp_path / kept_out.LIST).write_bytes(b"child one\nopted_o")

    keep_out(str(tmp_path), b"two", OPTED_OUT)

    assert kept_out.kept_out(tmp_path) == {"one": CHILD, "two": OPTED_OUT}


def test_a_full_list_loses_its_older_half_and_never_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_out, "MOST_BYTES", 1000)
    for number in range(200):
        keep_out(str(tmp_path), f"session-{number}".encode(), OPTED_OUT)
        assert (tmp_path / kept_out.LIST).stat().st_size < 1100

    held = list(kept_out.kept_out(tmp_path))
    assert held == [f"session-{number}" for number in range(200 - len(held), 200)]
    assert len(held) > 15
    assert [path.name for path in tmp_path.iterdir()] == [kept_out.LIST]


def _add(folder, first):
    for number in range(first, first + 50):
        keep_out(folder, f"session-{number}".encode(), OPTED_OUT)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(str(tmp_path), first)) for first in (0, 50, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(kept_out.kept_out(tmp_path)) == 150


@pytest.mark.parametrize(
    ("prompt", "out"),
    [("!norecall why", True), ("\n  !norecall", True), ("why !norecall", False), ("! norecall", False), ("", False)],
)
def test_a_turn_opts_out_with_its_first_word(prompt, out):
    assert opts_out(prompt) is out
