"""The console's page of health and its first page: the report as it is elsewhere, and what comes first."""

import html
import re
import threading
from typing import Any

import pytest
from support.command import runner
from support.console import console
from support.project import exchanges
from support.record import NOW, make_draft

from health.facts import Facts
from health.report import assess
from recall.cli.app import App
from recall.cli.console import looked
from recall.cli.reported import report_of
from recall.ledger import TYPE
from transcript.errors import RecordError

TALK = exchanges([("why do the ports come from a file?", "Ports come from config.toml, the importer reads it.")])


@pytest.fixture
def shop(capsys, tmp_path, monkeypatch):
    """A project; `shop(words)` types a command in it."""
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")
    call = runner(capsys)
    assert call("init").code == 0
    return call


@pytest.fixture
def made(monkeypatch):
    """How often a report was made, and with which options; a short one is made in its place."""
    options: list[dict[str, Any]] = []
    monkeypatch.setattr("recall.cli.reported.report_of", lambda app, **given: options.append(given) or short(app))
    return options


def short(app: App) -> Any:
    """The report of a project of which nothing is known."""
    return assess(Facts(app.workspace().id, app.now().timestamp()))


def page(address: str) -> str:
    got = console().get(address)
    assert got.status_code == 200, got.text
    return got.text


def test_the_page_of_health_is_the_report_and_writes_nothing_but_kept_figures(indexed) -> None:
    indexed(TALK, words_only=True)
    workspace = App.here().workspace()
    before = {path: path.read_bytes() for path in workspace.home.rglob("*") if path.is_file()}
    found = page("/health")
    after = {path: path.read_bytes() for path in workspace.home.rglob("*") if path.is_file()}
    report = report_of(App.here())

    assert len(report.signals) > 60
    for one in report.signals:
        assert f'id="signal-{one.id}"' in found
        assert not one.level or html.escape(one.meaning)[:100] in found
    assert found.count("<main") == found.count("<h1") == 1
    changed = {
        path.name: after.get(path) for path in after.keys() | before.keys() if after.get(path) != before.get(path)
    }
    assert changed.keys() <= {"index-facts.json", "record-lines.json", "index.sqlite-wal", "index.sqlite-shm"}
    assert not changed.get("index.sqlite-wal"), "a reader of the index makes these files, and writes nothing"


def test_the_first_page_tells_the_newest_turns_newest_first(shop, made) -> None:
    assert "No turn yet" in page("/")

    log = App.here().log(App.here().workspace())
    for text in ("where do ports come from", "<b>importer</b> config"):
        log.append([make_draft(text, type=TYPE, body={"mode": "words", "prompt": text})], now=NOW)
    found = page("/").partition('id="turns"')[2]

    assert found.index("&lt;b&gt;importer&lt;/b&gt; config") < found.index("where do ports come from")
    assert len(re.findall(r'href="/turn/[a-z2-7]+"', found)) == 2
    assert "<b>" not in found


def test_a_search_that_the_first_page_shows_is_behind_its_link_to_all_turns(shop, made) -> None:
    log = App.here().log(App.here().workspace())
    log.append([make_draft("s", type=TYPE, body={"mode": "posthoc", "prompt": "a search of my own"})], now=NOW)
    first = page("/").partition('id="turns"')[2]
    (address,) = re.findall(r'href="([^"]*)">all turns<', first)

    assert "a search of my own" in first
    assert "a search of my own" in page(html.unescape(address))


def test_the_first_page_tells_what_is_worst_first_and_leads_to_the_rest(shop, made) -> None:
    found = page("/")
    report = assess(Facts("w", NOW.timestamp()))
    bad = sorted((one for one in report.signals if one.level), key=lambda one: -one.level)

    assert len(bad) > 2, "nothing is known of this project"
    assert [html.unescape(one) for one in re.findall(r'<h3 id="signal-([^"]+)-head"', found)] == [
        one.id for one in bad[:8]
    ]
    assert 'href="/health"' in found


def test_the_first_page_leads_to_what_waits_for_a_decision(shop, monkeypatch) -> None:
    assert "for a decision" not in page("/")
    for number in range(2):
        assert shop("coord", "propose", "add", "--summary", f"Rule {number}").code == 0
    page("/health?again=1")

    assert '<a href="/proposals">2 proposals wait for a decision</a>' in page("/")


def test_an_old_report_is_shown_while_a_new_one_is_made(shop, made, monkeypatch) -> None:
    client = console()

    for address in ("/", "/health", "/"):
        client.get(address)
    assert len(made) == 1
    client.get("/health?again=1")
    assert len(made) == 2
    old = looked.looked(App.here())
    monkeypatch.setattr(looked, "KEPT_S", -1.0)
    assert looked.looked(App.here()) is old
    looked.begin(App.here()).wait(120)
    assert len(made) in (3, 4), "that of the look, and one more where it had ended"
    monkeypatch.setattr(looked, "KEPT_S", 60.0)
    newest = looked.looked(App.here())
    assert newest is not None
    assert old is not None
    assert newest.made_at > old.made_at


@pytest.mark.parametrize("address", ["/", "/health"])
def test_nobody_waits_for_the_first_report(shop, monkeypatch, address) -> None:
    may = threading.Event()
    monkeypatch.setattr(looked, "WAIT_S", 0.0)
    monkeypatch.setattr("recall.cli.reported.report_of", lambda app, **given: may.wait(120) and short(app))

    at_once = page(address)
    may.set()
    looked.begin(App.here()).wait(120)

    assert "The first look at this project is being taken." in at_once
    assert "The first look" not in page(address)


@pytest.mark.parametrize(
    ("error", "told", "traced"),
    [
        (RecordError("the record cannot be read: <b>gone</b>"), "the record cannot be read: &lt;b&gt;gone", False),
        (PermissionError(13, "Permission denied", "/data/head"), "cannot use /data/head (Permission denied)", False),
        (OSError(28, "No space left on device"), "the disk refuses a write (No space left on device)", False),
        (ValueError("of a signal"), "the report broke (ValueError); the terminal", True),
    ],
    ids=["record", "permission", "disk", "fault"],
)
def test_why_there_is_no_report_is_told_until_there_is_one(shop, monkeypatch, capsys, error, told, traced) -> None:
    def broken(app: App, **given: Any) -> Any:
        raise error

    client = console()
    monkeypatch.setattr("recall.cli.reported.report_of", broken)

    for address in ("/health?again=1", "/health?again=1"):
        got = client.get(address)
        assert (got.status_code, told in got.text) == (400, True)
    assert ("of a signal" in capsys.readouterr().err) is traced
    monkeypatch.setattr("recall.cli.reported.report_of", lambda app, **given: short(app))
    assert client.get("/health?again=1").status_code == 200


def test_the_demo_is_expected_to_have_no_hooks(shop, made, tmp_path, monkeypatch) -> None:
    """No harness runs in the demo's project."""
    app = App.here()
    looked.looked(app, again=True)
    workspace = app.workspace()
    monkeypatch.setattr(app, "workspace", lambda: workspace)
    app.data = tmp_path / "demo"
    looked.looked(app, again=True)

    assert made == [{"hooked": True}, {"hooked": False}]


def test_the_first_page_tells_what_is_wrong_with_a_record_that_cannot_be_read(shop) -> None:
    App.here().workspace().head_file.write_bytes(b"x")

    first = page("/")

    assert "log/head is damaged" in first.partition('id="turns"')[2]
    assert re.search(r'class="[^"]*fail', first.partition('id="turns"')[0])
