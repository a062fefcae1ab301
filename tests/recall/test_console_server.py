"""The console's server against clients that are no browser."""

import asyncio

import pytest
from starlette.testclient import TestClient
from support.console import HOST, TOKEN

from recall.cli.app import App
from recall.cli.console import server
from recall.cli.console.guard import derived

COOKIE = f"recall_{HOST.rpartition(':')[2]}={derived(TOKEN, 'cookie')}"


@pytest.fixture
def guard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return server.build(App.here(), host=HOST, token=TOKEN)


@pytest.mark.parametrize(
    "others",
    ['theme={"a":1}; x y=z', "a[b]=c; {x}=1", "\xff\xfe=\x80;;;=;", f"{COOKIE.partition('=')[0]}=stale"],
    ids=["json", "brackets", "bytes", "another of this name"],
)
@pytest.mark.parametrize("order", [1, -1], ids=["before ours", "behind ours"])
def test_cookies_of_other_servers_on_this_machine_keep_nobody_out(guard, others, order):
    """A browser sends the cookies of every port of 127.0.0.1 to every other."""
    held = "; ".join([others, COOKIE][::order]).encode("latin-1")

    answer = TestClient(guard, base_url=f"http://{HOST}").get("/style.css", headers={"cookie": held})

    assert answer.status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET /turns HTTP/1.1\r\nHost: "], ids=["silent", "half a question"])
@pytest.mark.parametrize("before", [0, 1], ids=["from the start", "after an answer"])
def test_who_never_asks_does_not_keep_a_place(guard, monkeypatch, sent, before):
    monkeypatch.setattr(server, "SILENT_S", 0.02)

    assert asyncio.run(_last_words(guard, before * f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode(), sent)) == (
        [b"HTTP/1.1 403 Forbidden"] * before
    )


def test_a_post_that_is_cut_off_breaks_nothing(guard, capsys):
    head = (
        f"POST /proposal/a HTTP/1.1\r\nHost: {HOST}\r\nOrigin: http://{HOST}\r\nCookie: {COOKIE}\r\n"
        "Content-Length: 500\r\n\r\ncsrf="
    ).encode()

    asyncio.run(_last_words(guard, b"", head, ends=True))

    assert "Traceback" not in capsys.readouterr().err


async def _last_words(guard, question: bytes, sent: bytes, *, ends: bool = False) -> list[bytes]:
    """The first lines that come back for a question and for what is sent then, until the server hangs up."""
    with server.listen(0) as sock:
        waiter = server.waiter(guard)
        serving = asyncio.create_task(waiter.serve(sockets=[sock]))
        reader, writer = await asyncio.open_connection(*sock.getsockname())
        lines = []
        if question:
            writer.write(question)
            lines.append((await reader.readuntil(b"\r\n")).strip())
        writer.write(sent)
        if ends:
            writer.write_eof()
        await reader.read()
        writer.close()
        waiter.should_exit = True
        await serving
    return lines
