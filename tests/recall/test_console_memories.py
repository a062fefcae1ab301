"""The console's pages of memories: which are listed, and what is told of one."""

import html
import json
import os
import re
from pathlib import Path

import pytest
from support.command import runner
from support.console import console
from support.person import sit_down
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.console import remembered
from recall.ledger import TYPE
from transcript.log import Log

SAID = "The importer reads every file twice, because the first pass counts the lines. Ports come from config.toml."
RIGHT = "The importer reads every file once since the counter was removed."
TWICE = "The importer reads every file twice, because the first pass counts the lines."
PORTS = "Ports come from config.toml."
HOSTILE = "The port is <script>alert(1)</script>\u202e & \x1b[2J<b> 80\u200b80\ufeff."


@pytest.fixture
def shop(capsys, tmp_path: Path, monkeypatch):
    """A project in which something was said; `shop(words)` types a command and returns what it said."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    call = runner(capsys)
    assert call("init").code == 0
    sit_down(monkeypatch)
    log = Log(App.here().workspace())
    log.append(
        [
            make_draft("said", text=SAID, body={"kind": "reply"}, actor="assistant", ts="2026-01-06T10:00:00.000Z"),
            make_draft("right", text=RIGHT, ts="2026-02-06T10:00:00.000Z"),
        ],
        now=NOW,
    )
    call.log = log  # type: ignore[attr-defined]
    return call


def pointer(name: str, text: str, part: str) -> str:
    at = text.index(part)
    return f"{make_draft(name).id[:10]}#{at}-{at + len(part)}"


def added(shop, text: str = TWICE, *more: str, evidence: str = TWICE) -> str:
    done = shop("memory", "add", text, "--evidence", pointer("said", SAID, evidence), "--json", *more)
    assert done.code == 0, done.err
    return next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")


def archive(shop, name: str) -> None:
    assert shop("memory", "archive", name, "--reason", "no longer so").code == 0


def page(address: str, status: int = 200) -> str:
    got = console().get(address)
    assert got.status_code == status, got.text
    return got.text


def words(text: str) -> str:
    """What is read on a page, without its marks."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text.partition("<main")[2])).split())


def listed(address: str) -> list[str]:
    return re.findall(r'href="/memory/([a-z2-7]+)"', page(address))


def test_memories_are_listed_as_the_filters_say(shop) -> None:
    twice = added(shop, TWICE, "--type", "lesson", "--why", "measured")
    ports = added(shop, PORTS, "--type", "project_fact", evidence=PORTS)
    archive(shop, ports)

    assert listed("/memories") == [twice]
    assert set(listed("/memories?state=all")) == {twice, ports}
    assert listed("/memories?state=archived") == [ports]
    assert listed("/memories?state=all&kind=lesson") == [twice]
    assert listed("/memories?state=all&q=CONFIG+ports") == [ports]
    assert listed("/memories?q=measured") == [twice]
    assert listed(f"/memories?q={twice}") == [twice]
    assert "No memory fits." in page("/memories?q=nowhere")


def test_the_filters_stay_as_they_were_set(shop) -> None:
    added(shop)
    found = page("/memories?state=archived&kind=lesson&q=a%22b")

    assert '<option value="archived" selected>' in found
    assert '<option value="lesson" selected>' in found
    assert 'value="a&quot;b"' in found
    assert found.count(" selected") == 2


def test_an_entry_tells_validity_confidence_and_use(shop) -> None:
    added(shop, TWICE, "--valid-to", "2126-03-01")
    told = words(page("/memories"))

    assert "current" in told
    assert re.search(r"holds from \d{4}-\d\d-\d\d until 2126-03-02 00:00Z", told)
    assert "inference, not refuted" in told
    assert "E 0.00, not used yet" in told


def test_many_memories_stand_on_several_pages(shop, monkeypatch) -> None:
    monkeypatch.setattr("recall.cli.console.pages_memories.PAGE", 2)
    made = {added(shop, f"{PORTS} Port {number} is closed.", evidence=PORTS) for number in range(5)}
    first, second, third = (listed(f"/memories?q=port&at={at}") for at in (0, 2, 4))

    assert [len(one) for one in (first, second, third)] == [2, 2, 1]
    assert {*first, *second, *third} == made
    assert 'href="/memories?q=port&amp;at=2"' in page("/memories?q=port")
    assert 'href="/memories?q=port&amp;at=4"' in page("/memories?q=port&at=2")
    assert "further" not in page("/memories?q=port&at=4")


@pytest.mark.parametrize("at", ["99", "-1", "x", "9" * 5000, "\u00b2"])
def test_a_place_that_there_is_not_breaks_nothing(shop, at) -> None:
    added(shop)

    assert console().get("/memories", params={"at": at}).status_code == 200


def test_a_memory_shows_the_words_of_its_source_and_leads_there(shop) -> None:
    name = added(shop, TWICE, "--why", "measured")
    found = page(f"/memory/{name}")

    assert f'href="/at/{make_draft("said").id[:10]}"' in found
    sources = found.partition('id="sources"')[2].partition("</section>")[0]
    assert TWICE in html.unescape(sources)
    assert PORTS not in html.unescape(sources), "the place, not the whole message"
    assert "measured" in found


def test_a_source_that_was_redacted_says_so(shop) -> None:
    name = added(shop)
    assert shop("redact", make_draft("said").id, "--authorised").code == 0
    got = console().get(f"/memory/{name}")

    assert "counts the lines" not in got.text.partition('id="sources"')[2]


def test_what_took_the_place_of_a_memory_and_what_it_replaced_lead_to_each_other(shop) -> None:
    old = added(shop)
    done = shop("memory", "correct", old, RIGHT, "--because", make_draft("right").id, "--json")
    assert done.code == 0, done.err
    new = next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")

    assert f'href="/memory/{new}"' in page(f"/memory/{old}")
    assert f'href="/memory/{old}"' in page(f"/memory/{new}")
    assert "replaced by" in page(f"/memory/{old}")
    assert "takes the place of" in page(f"/memory/{new}")
    assert listed("/memories") == [new]


def test_the_history_tells_every_event_of_it_in_the_order_of_the_record(shop) -> None:
    name = added(shop)
    archive(shop, name)
    history = words(page(f"/memory/{name}").partition('id="history"')[2].join(["<main>", ""]))
    told = shop("memory", "history", name, "--json").rows()

    ids = [one["id"][:10] for one in told]
    assert len(ids) >= 3
    places = [history.index(one) for one in ids]
    assert places == sorted(places)


def test_the_turns_that_showed_it_lead_to_them(shop) -> None:
    name, other = added(shop), added(shop, PORTS, evidence=PORTS)
    body = {
        "mode": "words",
        "prompt": "how often is a file read",
        "items": [{"pointer": f"{name[:10]}#0-9", "event": name}],
    }
    turn = make_draft("turn", type=TYPE, body=body)
    shop.log.append([turn], now=NOW)

    showed = page(f"/memory/{name}").partition('id="turns"')[2]
    assert f'href="/turn/{turn.id}"' in showed
    assert "how often is a file read" in showed
    assert turn.id not in page(f"/memory/{other}")
    assert "shown to agents 1 time" in words(page(f"/memory/{name}"))


def test_verdicts_are_told_with_who_gave_them(shop) -> None:
    told = shop("memory", "show", added(shop), "--json").rows()[0]
    found = page(f"/memory/{told['id']}").partition('id="verdicts"')[2]

    assert told["reviewers"]
    assert all(one in found for one in told["reviewers"])


def test_recorded_words_stay_words(shop) -> None:
    shop.log.append([make_draft("odd", text=HOSTILE, body={"kind": "reply"}, actor="assistant")], now=NOW)
    place = f"{make_draft('odd').id[:10]}#0-{len(HOSTILE)}"
    done = shop("memory", "add", HOSTILE, "--evidence", place, "--tag", "<i>tag</i>", "--json")
    name = next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")

    for address in ("/memories", f"/memory/{name}", "/memories?q=%3Cscript%3E%22%3E"):
        found = page(address)
        assert not {"\u202e", "\x1b", "\u200b", "\ufeff"} & set(found)
        assert not re.search("<(script|b|i)>", found)
    shown = "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e &amp; \\x1b[2J&lt;b&gt; 80\\u200b80\\ufeff"
    assert shown in page(f"/memory/{name}")


@pytest.mark.parametrize("name", ["zzzzzzzz", "%3Cscript%3E", "..%2F..%2Fx"])
def test_what_is_no_memory_is_said_to_be_none(shop, name) -> None:
    assert "no memory is called" in page(f"/memory/{name}", status=404)


def test_what_waits_for_a_person_is_told_with_the_commands_that_decide(shop) -> None:
    added(shop)
    [path] = Path(".recall/memory").glob("the-*.md")
    path.write_text(path.read_text("utf-8").replace("twice", "thrice"), "utf-8")
    [row] = shop("memory", "list", "--proposals", "--json").rows()
    name = row["id"]

    found = page(f"/memory/{name}")
    assert f"recall memory accept {name[:10]}" in found
    assert f'href="/memory/{name}"' in page("/proposals")


def test_looking_changes_nothing(shop) -> None:
    name = added(shop)
    folder = Path(os.environ["RECALL_HOME"])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    for address in ("/memories", f"/memory/{name}", "/memories?state=all&q=a", "/memory/zzzzzzzz"):
        console().get(address)

    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_memory_that_is_written_meanwhile_is_there_at_the_next_look(shop) -> None:
    """What was folded is kept only as long as the record stays as it is."""
    client, first = console(), added(shop)
    assert first in client.get("/memories").text
    second = added(shop, PORTS, evidence=PORTS)

    assert second in client.get("/memories").text
    archive(shop, second)
    assert second not in client.get("/memories").text


def test_a_session_that_is_recorded_meanwhile_is_listed_and_its_newest_words_told(shop) -> None:
    """The sessions are held from page to page; what came since is added to them."""
    before = page("/sessions")
    shop.log.append([make_draft("one", session="talk-2", text="Words of a new talk.")], now=NOW)
    between = page("/sessions")
    shop.log.append(
        [make_draft("two", session="talk-2", text="Its newest words.", ts="2026-04-01T10:00:00.000Z")], now=NOW
    )
    after = page("/sessions")

    assert ["/session/talk-2" in one for one in (before, between, after)] == [False, True, True]
    assert ("Words of a new talk." in between, "Its newest words." in after) == (True, True)
    assert "2 prompts" in words(after)


def test_the_sessions_are_read_before_somebody_looks(shop, monkeypatch) -> None:
    remembered.begin(App.here()).join(120)
    read = []
    monkeypatch.setattr("transcript.projections.views.fold", lambda made, event, body: read.append(event.type))

    assert "/session/session-1" in page("/sessions")
    assert read == []
