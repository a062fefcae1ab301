"""The console: who may ask, what turns, sessions and a search look like, and that looking changes nothing."""

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.backups import tree
from support.command import runner
from support.console import HOST, TOKEN, console, csrf
from support.embedder import StubEmbedder
from support.project import git_project
from support.wire import WireFile

from recall.cli.app import App
from recall.cli.caller import AGENTS
from recall.cli.console import server
from recall.cli.console.guard import MOST_BODY
from recall.cli.console.routes import ROUTES
from recall.cli.group import run
from transcript.telling import visible

ORIGIN = {"origin": f"http://{HOST}"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e\x1b[2J\u200b\ufeff\u2060 javascript:alert(1)"
UNSEEN = ("\u202e", "\x1b", "\u200b", "\ufeff", "\u2060")
ASKED = "Why does the pilot use port 8080?"
ANSWER = "The pilot uses port 8080 because the proxy of the warehouse holds port 80."
HOSTILE = f"Which port does {EVIL} use for the pilot?"
STEPS = 24
HUGE = 300_000  # characters of one answer
ALIKE = 3  # pages of one kind that are visited
# What runs, loads or takes a page over; a page of ours has none of it.
FORBIDDEN = frozenset(
    {"script", "img", "image", "iframe", "frame", "object", "embed", "style", "base", "video", "audio", "source"}
    | {"use", "foreignobject", "animate", "set", "template", "noscript", "applet", "portal"}
)


@dataclass
class Shop:
    """A project with two sessions, the second of hostile words, and three turns in the first."""

    app: App
    first: str
    evil: str


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Made once: nothing here writes, and one test holds the whole data folder against itself."""
    base = tmp_path_factory.mktemp("console")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "RECALL_HOME", "XDG_RUNTIME_DIR"):
            (base / name).mkdir()
            patch.setenv(name, str(base / name))
        for name in (*AGENTS, "RECALL_ACTOR", "RECALL_CHILD"):
            patch.delenv(name, raising=False)
        patch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
        folder = git_project(base / "shop")
        patch.chdir(folder)
        first = WireFile(str(folder), seed="first")
        first.add("prompt", text=ASKED)
        first.add("reply", text=ANSWER)
        for number in range(STEPS):
            first.add("prompt", text=f"Step {number}: move file {number} of the pilot.")
            first.add("tool_call", tool="Bash", call_id=f"c{number}", input={"command": f"mv {number} {EVIL}"})
            first.add("tool_result", call_id=f"c{number}", text=f"moved {number}")
            first.add("reply", text=f"File {number} of the pilot is moved. {'x' * 1_300 if number == 1 else ''}")
        evil = WireFile(str(folder), seed="evil", branch=EVIL)
        evil.add("prompt", text=HOSTILE)
        evil.add("tool_call", tool=EVIL, call_id="e", input={EVIL: EVIL})
        evil.add("reply", text=f"{EVIL} uses port 8081 for the pilot. token ghp_{'a1B2' * 9}")
        evil.add("reply", text="z" * HUGE)
        evil.add("reply", text="\n\n")
        for file in (first, evil):
            file.write(base / "RECALL_HOME" / "wire")
        for words in (["init"], ["sync"], ["index"]):
            assert run(words) == 0
        app = App(dict(os.environ), folder, base / "RECALL_HOME")
        for prompt in (ASKED, HOSTILE, "ok"):
            app.ask(prompt, mode="turn", ledger_mode="warm", session=first.session)
        app.ask("proxy of the warehouse")
        yield Shop(app, first.session, evil.session)


@pytest.fixture(scope="module")
def client(shop):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.embedder.load", lambda *args, **kwargs: StubEmbedder())
        patch.setattr("indexer.embedder.check", lambda *args, **kwargs: StubEmbedder())
        yield console(shop.app)


def shown(client: TestClient, address: str) -> str:
    """The page as a person reads it: its words without markup."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def links(page: str, to: str) -> list[str]:
    """The addresses on a page that begin so, each once."""
    return list(dict.fromkeys(html.unescape(found) for found in re.findall(rf'href="({to}[^"]*)"', page)))


@dataclass
class Visit:
    """Every page that links lead to from the navigation, by its address, and the files before and after it."""

    pages: dict[str, str]
    before: tuple[dict[str, bytes], ...]
    after: tuple[dict[str, bytes], ...]


@pytest.fixture(scope="module")
def visit(client, shop):
    client.get("/search?q=pilot")  # opens the index, whose shared memory is made by the first reader
    before = (tree(shop.app.data), tree(shop.app.cwd))
    found: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    waiting = [route.address for route in ROUTES if route.label] + ["/search?q=pilot", "/nothing", "/session/none"]
    while waiting:
        address = waiting.pop(0).partition("#")[0]
        kind = re.sub(r"(?<=/)[^/?]{9,}|=[^&]*", "", address)
        if address and address not in found and kinds[kind] < ALIKE:
            kinds[kind] += 1
            answer = client.get(address)
            found[address] = answer.text
            if "html" in answer.headers["content-type"]:
                waiting += links(answer.text, "/")
    return Visit(found, before, (tree(shop.app.data), tree(shop.app.cwd)))


# -- who may ask ----------------------------------------------------------------------------


def test_the_token_becomes_a_cookie_and_leaves_the_address(shop):
    client = console(shop.app, cookie=False)

    greeting = client.get("/turns", params={"token": TOKEN})

    cookie = greeting.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert 'content="0; url=/turns"' in greeting.text
    assert client.get("/turns").status_code == 200


@pytest.mark.parametrize("path", ["/", "/turns", "/style.css", "/nothing", "/proposal/x"])
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", "ü"])
def test_without_the_token_there_is_nothing(shop, path, token):
    answer = console(shop.app, cookie=False).get(path, params={"token": token} if token is not None else None)

    assert answer.status_code == 403
    assert "recall ui" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["", "x", TOKEN, 'ü"; ;'])
def test_a_made_up_cookie_is_refused(shop, cookie):
    raw = f"recall_{HOST.rpartition(':')[2]}={cookie}".encode()

    assert console(shop.app, cookie=False).get("/turns", headers={"cookie": raw}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost:8123", "127.0.0.1", "127.0.0.1:8124", f"{HOST}.evil.example", ""]
)
def test_another_name_is_refused_even_with_the_token(client, host):
    """A foreign page's own name may be made to lead to this machine."""
    assert client.get("/turns", headers={"host": host}, params={"token": TOKEN}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": f"https://{HOST}"},
        {**ORIGIN, "sec-fetch-site": "same-site"},
    ],
)
def test_what_is_posted_from_elsewhere_is_refused(client, headers):
    assert client.post("/proposal/x", data={"csrf": csrf()}, headers=headers).status_code == 403


@pytest.mark.parametrize("fields", [{}, {"csrf": ""}, {"csrf": "x"}, {"csrf": TOKEN}, {"csrf": "ü"}])
def test_a_form_without_its_secret_is_refused(client, fields):
    answer = client.post("/proposal/x", data=fields, headers=ORIGIN)

    assert (answer.status_code, "load its page again" in answer.text) == (403, True)


def test_a_form_with_everything_reaches_its_page(client):
    """The refusals above are not those of a page that refuses everything."""
    answer = client.post("/proposal/nosuch", data={"csrf": csrf()}, headers=ORIGIN)

    assert answer.status_code in (400, 404)
    assert "nosuch" in answer.text


def test_too_much_is_refused_however_it_comes(client):
    told = client.post("/proposal/x", content=b"a=" + b"x" * MOST_BODY, headers=ORIGIN)
    streamed = client.post("/proposal/x", content=iter([b"x" * MOST_BODY, b"xx"]), headers=ORIGIN)

    assert (told.status_code, streamed.status_code) == (413, 413)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "POST"])
def test_other_methods_change_nothing(client, method):
    assert client.request(method, "/turns", headers=ORIGIN).status_code == 405


def test_every_answer_tells_the_browser_to_run_and_load_nothing(client, shop):
    answers = [client.get(a) for a in ("/turns", "/nothing", "/style.css")]
    answers += [console(shop.app, cookie=False).get("/"), client.get("/", headers={"host": "evil.example"})]

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self';")
        assert "script-src" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


# -- looking --------------------------------------------------------------------------------


def test_looking_at_every_page_leaves_every_byte_as_it_is(visit):
    assert {route.address for route in ROUTES if route.label} <= set(visit.pages)
    assert {address.split("/")[1] for address in visit.pages} >= {"turn", "session", "at", "search?q=pilot"}
    for before, after in zip(visit.before, visit.after, strict=True):
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        # What `recall health` keeps of counting the index and of its pass over the record: it holds no words.
        assert {
            name for name in changed if not name.endswith(("/run/index-facts.json", "/run/record-lines.json"))
        } == set()
        assert len(before) > 5


class Reader(HTMLParser):
    """Refuses what no page of ours has."""

    def handle_starttag(self, tag, attrs):
        assert tag not in FORBIDDEN, self.get_starttag_text()
        for name, value in attrs:
            assert not name.startswith("on"), self.get_starttag_text()
            assert name != "style", self.get_starttag_text()
            if name in ("href", "action", "src"):
                assert re.match(r"/(?!/)|#|http://127\.0\.0\.1", value), value


def test_hostile_words_stay_words_on_every_page(visit):
    assert sum("&lt;script&gt;alert(1)" in page for page in visit.pages.values()) > 5
    for page in visit.pages.values():
        assert [sign for sign in UNSEEN if sign in page] == []
        if page.startswith("<!doctype"):
            Reader().feed(page)


@pytest.mark.parametrize("name", ["%3Cscript%3E", "..%2F..%2Fetc%2Fpasswd", "%00", "%ff%fe", "a" * 3000, "-1", "'--"])
def test_an_address_that_somebody_made_up_breaks_nothing(client, name):
    """Whoever follows a wrong link reads what is wrong with it."""
    for address in ("/turn/", "/session/", "/at/", "/search?q=", "/memory/", "/proposal/", "/", "/sessions?from="):
        answer = client.get(address + name)

        assert answer.status_code in (200, 400, 404), address
        assert "<script" not in answer.text
        assert "<h1>" in answer.text


# -- turns ----------------------------------------------------------------------------------


def turn_of(client: TestClient, prompt: str) -> str:
    """The address of the newest turn for a prompt."""
    page = client.get("/turns").text
    return next(
        html.unescape(found[0])
        for found in re.findall(r'<a href="(/turn/[^"]+)">([^<]*)</a>', page)
        if html.unescape(found[1]).startswith(prompt[:20])
    )


def test_turns_are_listed_newest_first_with_what_came_of_them(client):
    page = shown(client, "/turns")

    assert page.index("ok ") < page.index("Which port does") < page.index(ASKED)
    assert "nothing the prompt only moves the work on · " in page
    assert "proxy of the warehouse" not in page
    assert "proxy of the warehouse" in shown(client, "/turns?all=1")


def test_turns_go_on_behind_a_cursor(client, monkeypatch):
    monkeypatch.setattr("recall.cli.console.pages_turns.PAGE", 2)
    first = client.get("/turns").text
    [older] = links(first, "/turns\\?before")
    second = client.get(older).text

    assert len(links(first, "/turn/")) == 2
    assert len(links(second, "/turn/")) == 1
    assert not set(links(first, "/turn/")) & set(links(second, "/turn/"))
    assert links(second, "/turns\\?before") == []


def test_a_turn_shows_the_block_as_injected_and_the_terms_that_add_up(client, shop):
    from recall import ledger

    address = turn_of(client, ASKED)
    page = client.get(address).text
    log = shop.app.log(shop.app.workspace())
    body = log.body(log.find(address.rpartition("/")[2]))
    block = re.search(r'id="block".*?<pre[^>]*>(.*?)</pre>', page, re.DOTALL)

    assert block is not None
    assert html.unescape(re.sub(r"<[^>]*>", "", block[1])) == visible(body["block"])
    assert "uses port 8081" in body["block"]
    assert f"{body['tokens']:,} tokens of at most 1,200" in shown(client, address)
    terms = re.findall(r'<th scope="row">[SETAQK] \w+</th>.*?<td>([+−])([0-9.]+)</td>', page)[:6]
    total = sum(float(value) * (-1 if sign == "−" else 1) for sign, value in terms)
    assert total == pytest.approx(body["items"][0]["R"], abs=0.004)
    assert len(ledger.recent(log, 10)) == 4


def test_the_bars_are_as_long_as_what_each_term_adds(client, shop):
    """On one scale: the longest track is the greatest weight, and a bar never leaves its track."""
    page = client.get(turn_of(client, ASKED)).text
    rows = re.findall(
        r'class="track" width="([0-9.]+)"[^>]*></rect><rect class="(plus|minus)" width="([0-9.]+)".*?'
        r"<td>[+−]([0-9.]+)</td><td>([0-9.]+) × ([0-9.]+)</td>",
        page,
    )

    assert len(rows) >= 6
    for track, kind, bar, share, weight, value in rows:
        assert float(track) == pytest.approx(100 * float(weight) / 0.5, abs=0.1)
        assert float(share) == pytest.approx(float(weight) * float(value), abs=0.001)
        assert float(bar) == pytest.approx(200 * float(share), abs=0.2)
        assert (kind == "minus") == (rows.index((track, kind, bar, share, weight, value)) % 6 == 5)


def test_what_was_left_out_has_its_reason_and_its_words(client, shop):
    from recall.explain import SILENCE

    address = turn_of(client, ASKED)
    log = shop.app.log(shop.app.workspace())
    left = log.body(log.find(address.rpartition("/")[2]))["left_out"]
    page = shown(client, address)

    assert left
    for item in left:
        assert item["pointer"] in page
        assert SILENCE.get(item["reason"], item["reason"]) in page


def test_a_pointer_leads_to_its_place_in_the_session(client, shop):
    page = client.get(turn_of(client, ASKED)).text
    at = links(page, "/at/")[0]

    there = client.get(at, follow_redirects=False).headers["location"]
    event = there.rpartition("#")[2]

    assert there.startswith(f"/session/{shop.evil}?around=")
    assert f'id="{event}"' in client.get(there).text


def test_a_turn_leads_to_the_prompt_beside_which_it_stands(client, shop):
    """Wherever in the record the turn itself was written."""
    turn = turn_of(client, ASKED)
    [to] = links(client.get(turn).text, "/session/")

    page = client.get(to).text
    assert page.index(f'id="{to.rpartition("#")[2]}"') < page.index("Step 0:")
    [late] = links(client.get(turn_of(client, HOSTILE)).text, "/session/")
    assert "Step 0:" not in client.get(late).text


def test_a_call_that_a_pointer_names_is_open(client, shop):
    page = client.get(f"/session/{shop.evil}").text
    call = re.findall(r'<ul class="calls"><li id="([a-z2-7]+)"', page)[0]
    there = client.get(f"/at/{call}").text

    assert "<details>" in page
    assert re.search(rf'<details open>.{{0,200}}<ul class="calls"><li id="{call}"', there)
    assert there.count(f'id="{call}"') == 1


def test_a_name_that_is_no_turn_is_told_so(client, shop):
    session = client.get(f"/session/{shop.first}").text
    event = re.findall(r'<div class="row" id="([a-z2-7]+)"', session)[0]

    assert "is no turn but a conversation_turn" in html.unescape(client.get(f"/turn/{event}").text)


# -- sessions -------------------------------------------------------------------------------


def test_sessions_are_listed_and_paged(client, shop, monkeypatch):
    page = client.get("/sessions").text
    assert set(links(page, "/session/")) == {f"/session/{s}" for s in (shop.first, shop.evil)}
    assert f"last: File {STEPS - 1} of the pilot is moved." in page
    monkeypatch.setattr("recall.cli.console.pages_sessions.SESSIONS", 1)

    first = client.get("/sessions").text
    [older] = links(first, "/sessions\\?from")
    assert links(first, "/session/") != links(client.get(older).text, "/session/")


def test_what_was_recalled_stands_beside_its_prompt(client, shop):
    page = client.get(f"/session/{shop.first}").text
    row = page[page.index('<div class="row"') :]
    first = row[: row.index('<div class="row"', 5)]

    assert ASKED in html.unescape(first)
    [turn] = links(first, "/turn/")
    assert turn == turn_of(client, ASKED)
    assert "item" in first


def test_turns_of_no_prompt_of_the_session_stand_where_their_time_is(client, shop):
    """The prompt is captured later than it is answered; until then the turn is all there is of it."""
    address = f"/session/{shop.first}"
    while newer := re.findall(r'<a href="([^"]+)">after this', client.get(address).text):
        address = html.unescape(newer[0])
    last = client.get(address).text

    assert links(last, "/turn/") == [turn_of(client, HOSTILE), turn_of(client, "ok")]


def test_paging_meets_every_entry_once_in_order(client, shop):
    seen: list[str] = []
    address: str | None = f"/session/{shop.first}"
    while address:
        page = client.get(address).text
        seen += re.findall(r"Step (\d+): move", html.unescape(page))
        newer = re.findall(r'<a href="([^"]+)">after this', page)
        address = html.unescape(newer[0]) if newer else None

    assert seen == [str(number) for number in range(STEPS)]


def test_a_page_goes_back_to_the_one_before(client, shop):
    first = client.get(f"/session/{shop.first}").text
    second = client.get(html.unescape(re.findall(r'<a href="([^"]+)">after this', first)[0])).text
    back = client.get(html.unescape(re.findall(r'<a href="([^"]+)">↑ before this', second)[0])).text

    assert re.findall(r"Step (\d+):", first) == re.findall(r"Step (\d+):", back)


def test_what_holds_no_words_says_so(client, shop):
    assert shown(client, f"/session/{shop.evil}").endswith("no words")


def test_the_beginning_of_a_sessions_name_will_do(client, shop):
    assert client.get(f"/session/{shop.first[:13]}").url.path == f"/session/{shop.first}"
    assert client.get("/session/none-of-them").status_code == 404


def test_long_words_open_on_demand_and_credentials_are_masked(client, shop):
    page = client.get(f"/session/{shop.first}").text

    assert "<summary>all 1,330 characters</summary>" in page
    evil = shown(client, f"/session/{shop.evil}")
    assert "[secret:github-token]" in evil
    assert "ghp_" not in evil


def test_a_page_stays_small_whatever_was_said(client, shop):
    page = client.get(f"/session/{shop.evil}").text

    assert f"and {HUGE - 12_000:,} characters more" in html.unescape(page)
    assert "--whole" in page
    assert len(page) < 40_000


def test_calls_of_tools_are_one_line_with_the_names(client, shop):
    assert "1 call of a tool: Bash" in shown(client, f"/session/{shop.first}")


# -- search ---------------------------------------------------------------------------------


def test_a_search_shows_the_results_of_query_and_leaves_no_row(client, shop, monkeypatch, capsys):
    from recall import ledger

    log = shop.app.log(shop.app.workspace())
    before = len(ledger.recent(log, 100))
    page = client.get("/search", params={"q": ASKED}).text
    assert len(ledger.recent(log, 100)) == before

    turn = shop.app.ask(ASKED, record=False)
    from recall.cli.query import listed
    from recall.explain import item_json

    told = [item_json(one) for one in listed(turn)]
    assert re.findall(r"<code>([a-z2-7]{10}#[0-9-]+)</code>", page) == [one["pointer"] for one in told][:20]
    assert f"R {told[0]['R']:.3f}" in page
    assert f"{len(told)} result" in page


def test_a_search_for_nothing_asks_and_one_without_a_match_says_so(client):
    assert "Searches this project" in shown(client, "/search?q=%20%20")
    assert "Nothing found" in shown(client, "/search?q=%3F%3F%3F")


def test_the_words_that_were_searched_for_stay_in_the_field(client):
    page = client.get("/search", params={"q": f"pilot {EVIL}"}).text

    assert 'value="pilot &lt;script&gt;' in page


# -- the command ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), [("CLAUDECODE", "1"), ("RECALL_CHILD", "1"), ("RECALL_ACTOR", "agent:x")])
def test_it_does_not_start_in_an_agents_shell(shop, monkeypatch, capsys, name, value):
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(server, "listen", lambda port: pytest.fail("a port was opened"))

    done = runner(capsys)("ui")

    assert (done.code, done.out) == (1, "")
    assert "what only you may see" in done.err


def test_the_missing_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(git_project(tmp_path / "shop"))
    assert run(["init"]) == 0
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "recall.cli.console.server")
    monkeypatch.delattr("recall.cli.console.server")

    done = runner(capsys)("ui")

    assert done.code == 1
    assert "pip install 'lca-recall[ui]'" in done.err
    assert "uvicorn" in done.err


def test_a_port_that_is_taken_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(git_project(tmp_path / "shop"))
    assert run(["init"]) == 0
    capsys.readouterr()
    with server.listen(0) as taken:
        port = taken.getsockname()[1]
        done = runner(capsys)("ui", "--port", str(port))

    assert done.code == 1
    assert f"port {port} cannot be used" in done.err
    assert "without --port" in done.err


def test_without_a_project_it_says_what_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    done = runner(capsys)("ui")

    assert (done.code, "recall init" in done.err) == (1, True)


@pytest.fixture
def no_report(monkeypatch):
    """The server makes a health report when it starts; a test that ends it at once would leave that running."""
    monkeypatch.setattr("recall.cli.console.looked.begin", lambda app: None)


def test_it_ends_when_nobody_asks(shop, no_report):
    with server.listen(0) as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
        assert server.serve(shop.app, sock, TOKEN, idle_s=0.05) == "nobody asked for a page"


def test_it_ends_with_the_program_that_started_it(shop, no_report, monkeypatch):
    parents = iter([7, 7])
    monkeypatch.setattr("recall.cli.console.server.os.getppid", lambda: next(parents, 1))
    monkeypatch.setattr(server, "_PARENT_LOOK_S", 0.01)

    with server.listen(0) as sock:
        assert server.serve(shop.app, sock, TOKEN, idle_s=60) == "the program that started it is gone"


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal on POSIX")
def test_the_command_serves_until_ctrl_c(shop):
    """The real thing: the address that it prints opens, and Ctrl-C is no failure."""
    words = [sys.executable, "-c", "from recall.cli.main import main; main()", "ui"]
    started = subprocess.Popen(
        words, cwd=shop.app.cwd, env=dict(shop.app.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None
        address = started.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), urllib.request.ProxyHandler({}))
        base = address.partition("?")[0]
        with pytest.raises(urllib.error.HTTPError) as refused:
            opener.open(base + "turns", timeout=120)
        assert refused.value.code == 403
        refused.value.close()
        with opener.open(address, timeout=120) as greeting:
            assert greeting.status == 200
        with opener.open(base + "turns", timeout=120) as page:
            assert ASKED in html.unescape(page.read().decode())
            assert "server" not in {name.lower() for name in page.headers}
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=120)
    finally:
        started.kill()
        started.wait()

    assert (started.returncode, out) == (0, "")
    assert err.splitlines()[-1] == "the console has ended"
    assert TOKEN not in err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_closed_terminal_leaves_no_token_behind(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(git_project(tmp_path / "shop"))
    assert run(["init"]) == 0
    capsys.readouterr()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    seen = []

    def serve(*args, **kwargs):
        seen.append(len(list(temporary.glob("*/*.html"))))
        os.kill(os.getpid(), getattr(signal, name))
        time.sleep(30)

    monkeypatch.setattr(server, "serve", serve)
    before = signal.getsignal(getattr(signal, name))

    done = runner(capsys)("ui", "--open")

    assert (done.code, seen) == (0, [1])
    assert "the console has ended" in done.err
    assert list(temporary.iterdir()) == []
    assert signal.getsignal(getattr(signal, name)) is before


def test_the_browser_is_told_by_a_file_that_only_this_user_reads(monkeypatch):
    """Everybody on a machine can read the words of a running command."""
    from threading import Event

    from recall.cli import ui

    opened, done = [], Event()

    def browser(address: str) -> None:
        file = Path(address.removeprefix("file://"))
        opened.append((address, file.read_text(), file.parent.stat().st_mode & 0o777))
        done.set()

    monkeypatch.setattr(ui.webbrowser, "open", browser)
    with ui.opened(4321, "s3cret"):
        assert done.wait(120)

    [(address, text, mode)] = opened
    assert "s3cret" not in address
    assert "url=http://127.0.0.1:4321/?token=s3cret" in text
    assert mode == 0o700
    assert not Path(address.removeprefix("file://")).exists()


def test_the_server_and_its_guard_alone_import_the_extra_and_no_dependency_names_it():
    root = Path(__file__).resolve().parents[2]
    imports = re.compile(r"^\s*(from|import) (starlette|uvicorn|anyio)\b", re.MULTILINE)
    found = [
        path.relative_to(root).as_posix()
        for package in ("transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval")
        for path in (root / package).rglob("*.py")
        if imports.search(path.read_text("utf-8"))
    ]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]

    assert sorted(found) == ["recall/cli/console/guard.py", "recall/cli/console/server.py"]
    assert {re.split(r"[<>=]", one)[0] for one in project["optional-dependencies"]["ui"]} == {"starlette", "uvicorn"}
    assert not [one for one in project["dependencies"] if one.startswith(("starlette", "uvicorn"))]


def test_a_page_that_breaks_says_so_and_the_terminal_says_where(shop, monkeypatch, capsys):
    monkeypatch.setattr("recall.cli.console.pages_turns.turns", lambda app, asked: {}["no such key"])
    client = console(shop.app)
    client._transport.raise_server_exceptions = False

    answer = client.get("/turns")

    assert (answer.status_code, "this page broke" in answer.text) == (500, True)
    assert "no such key" not in answer.text
    assert "KeyError: 'no such key'" in capsys.readouterr().err
    assert client.get("/sessions").status_code == 200


def test_the_hook_path_knows_nothing_of_it():
    """What answers a prompt imports neither the server nor a page."""
    code = "import json, sys, recall.hook_client, recall.client, recall.cli.main; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"starlette", "uvicorn", "anyio", "health"}
