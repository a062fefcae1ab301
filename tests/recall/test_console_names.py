"""Addresses of the console: whatever a session is called, its link leads to it."""

import html
import re
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from support.console import HOST, TOKEN, console
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.console import parts
from transcript.log import Log

ORDINARY = ("01a22a4d-5fb5-7545-8f9d-5da018d8f12d", "session-1", "a b", "Сессия 日本")
NAMES = (
    *ORDINARY,
    ".",
    "..",
    "...",
    "../..",
    "/",
    "//example.org/x",
    "a/../b",
    "a/",
    "%2e%2e",
    "100%",
    "a?from=30",
    "a#main",
    "a&b=c+d",
    "a\\b",
    "=",
    "=2e2e",
    "=zz",
    " ",
    "----",
    "line\nend",
    "\n",
    "\x00\x1b[2J",
    "\u2028\u202e\u200b",
    "<b>\"'",
    "half \ud800 a letter",
    "x" * 300,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A project with a session of each name; `says(name)` is what was said in it."""
    base = tmp_path_factory.mktemp("names")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "RECALL_HOME"):
            (base / name).mkdir()
            patch.setenv(name, str(base / name))
        (base / "shop").mkdir()
        patch.chdir(base / "shop")
        from recall.cli.group import run

        assert run(["init"]) == 0
        Log(App.here().workspace()).append(
            [make_draft(number, session=name, text=says(name)) for number, name in enumerate(NAMES)], now=NOW
        )
        yield console()


def says(name: str) -> str:
    return f"Words number {NAMES.index(name)} of the talk."


def address_asked(here: str, link: str) -> str:
    """What a browser asks for where a page has a link: it goes up at dot segments, quoted or not."""
    asked = urlsplit(urljoin(f"http://{HOST}{here}", link))
    path: list[str] = []
    for one in asked.path.split("/")[1:]:
        if one.lower().replace("%2e", ".") == "..":
            del path[-1:]
        elif one.lower().replace("%2e", ".") != ".":
            path.append(one)
    return f"/{'/'.join(path)}" + (f"?{asked.query}" if asked.query else "")


def test_the_link_of_every_session_leads_to_it(client):
    found = client.get("/sessions").text
    links = re.findall(r'<a href="(/session/[^"]*)">([^<]*)</a>', found)

    assert len(links) == len(NAMES)
    assert all(text.strip() for _, text in links), "a link without words cannot be found"
    shown = set()
    for link, _ in links:
        page = client.get(address_asked("/sessions", html.unescape(link)))
        assert page.status_code == 200, link
        shown |= set(re.findall(r"Words number \d+ of the talk\.", page.text))
        assert len(set(re.findall(r"Words number \d+ of the talk\.", page.text))) == 1, link
    assert shown == {says(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_pointer_leads_into_a_session_of_any_name(client, name):
    got = client.get(f"/at/{make_draft(NAMES.index(name)).id[:10]}", follow_redirects=False)
    page = client.get(address_asked("/", got.headers["location"]))

    assert (got.status_code, page.status_code) == (303, 200)
    assert says(name) in page.text
    for to in re.findall(r'<a href="(/session/[^"]*)">its beginning</a>', page.text):
        assert says(name) in client.get(address_asked(str(page.url.path), html.unescape(to))).text


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_token_leads_on_to_the_page_that_was_asked_for(client, name):
    path = parts.address("/session", name)
    greeting = client.get(f"{path}?token={TOKEN}")
    onward = html.unescape(re.findall(r'<a href="([^"]*)">Go on</a>', greeting.text)[0])

    assert says(name) in client.get(address_asked(path, onward)).text


@pytest.mark.parametrize("name", ["", *NAMES], ids=ascii)
def test_a_name_comes_back_from_its_address(name):
    path = parts.address("/session", name)

    assert path.startswith("/session/")
    assert address_asked("/", path) == path
    assert not set(path) & set("?#\n\\ ")
    assert parts.named(unquote(path.removeprefix("/session/"))) == name


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_name_stands_in_its_address(name):
    assert unquote(parts.address("/session", name)) == f"/session/{name}"
