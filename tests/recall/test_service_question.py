"""A question to the service leaves at once and is waited for no longer than it may be, whatever is at the other end."""

import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.hooks import SITE, serving

from recall import service, service_control
from recall.hook_client import ADDRESS
from recall.service import Question, Reply
from transcript.paths import secure_dir

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX") or os.name == "nt", reason="no service here")
LATER = 1000.0
ODD = [
    *((b"pid", value) for value in (b"-1", b"0", b"true", b'"7"', b"1e999", b"[]")),  # it is signalled
    *((b"up_s", value) for value in (b"NaN", b'"long"', b"null")),
    *((b"memory_mb", b"1.5"), (b"version", b"7"), (b"site", b"{}")),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return secure_dir(tmp_path / "data")


@pytest.fixture
def hung(data: Path) -> Iterator[socket.socket]:
    """What a service that is stopped looks like: it is connected to, and says nothing."""
    path = data / "s"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen(8)
        listener.setblocking(False)
        secure_dir(data / "run")
        (data / ADDRESS).write_bytes(os.fsencode(path) + b"\n")
        yield listener


def pass_time(monkeypatch: pytest.MonkeyPatch) -> None:
    real = service.time.monotonic
    monkeypatch.setattr(service.time, "monotonic", lambda: real() + LATER)


def test_an_answer_that_has_come_is_taken_however_late_it_is_wanted(data, monkeypatch):
    with serving(data, lambda *_: Reply(), site=SITE):
        asked = Question(data, "status", site=SITE, within_s=30.0)
        select.select([asked._talk], [], [], 30.0)
        pass_time(monkeypatch)

        assert asked.answer()["site"] == str(SITE)
        assert asked.answer()["site"] == str(SITE)


@pytest.mark.parametrize(("said", "is_taken"), [(b'{"site": "x"}', True), (b'{"site": "', False), (b"", False)])
def test_of_a_line_that_stays_open_a_whole_answer_is_taken_and_a_part_is_not(hung, data, said, is_taken):
    asked = Question(data, "status", site=SITE, within_s=0.5)
    hung.setblocking(True)
    talk, _ = hung.accept()
    with talk:
        talk.sendall(b"recall 1 ok\n" + said)

        assert (asked.answer() is not None) is is_taken


def test_one_that_hangs_is_not_waited_for_once_its_time_is_over(data, hung, monkeypatch):
    asked = Question(data, "status", site=SITE, within_s=LATER / 2)
    pass_time(monkeypatch)

    assert asked.answer() is None
    assert asked.answer() is None


@pytest.mark.parametrize(
    "said",
    [
        *(b"recall 1 ok 3\n{}}", b"recall 1 ok 2\n[]", b"recall 1 ok 2\n\xff\xfe", b"x" * (service.LONGEST_ANSWER * 2)),
        *(b"", b'{"pid": 7}', b"recall 1 ok 9\n" + b"[" * (service.LONGEST_ANSWER // 2)),
        *(b'recall 1 ok 9\n{"%s": %s}' % pair for pair in ODD),
    ],
    ids=[
        *("no JSON", "no object", "no text", "endless", "nothing", "no head", "too deep"),
        *(b" ".join(pair).decode() for pair in ODD),
    ],
)
def test_what_is_no_answer_of_ours_is_none(data, hung, said):
    hung.setblocking(True)

    def answer() -> None:
        talk, _ = hung.accept()
        with talk:
            talk.recv(4096)
            try:
                talk.sendall(said)
            except OSError:
                return

    other = threading.Thread(target=answer)
    other.start()

    assert service.call(data, "status", site=SITE, timeout=180.0) is None
    other.join()


def test_where_nobody_listens_there_is_no_answer(data, hung):
    hung.close()

    assert Question(data, "status", site=SITE).answer() is None
    assert not service_control.status(data, now=0.0).up
