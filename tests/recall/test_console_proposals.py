"""The console's pages of proposals: what is read there, and what is signed at the terminal behind them."""

import html
import os
import re
import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.console import HOST, console, csrf
from support.coord_shop import Shop, make_shop
from support.person import Typist, sit_down

from consolidation.approval import mac_holds
from consolidation.coord_decide import show
from consolidation.coord_desk import CoordDesk
from consolidation.coord_show import lines
from consolidation.keys import KeyStore
from recall.cli.app import App
from recall.cli.coord_work import desk_of
from transcript.proposals import fold_proposals

HOSTILE = "Keep it.\u202e<script>alert(1)</script>\n\n\n\n  p\u0430ypal │ \x1b[2J" + "x" * 300
DECIDED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FORM = re.compile(r'name="(seen|csrf|word)" value="([^"]*)"')


@pytest.fixture
def shop(capsys, tmp_path: Path, monkeypatch) -> Shop:
    return make_shop(capsys, tmp_path, monkeypatch)


class Browser:
    """A person's browser: looks at pages and sends the forms that stand there."""

    def __init__(self) -> None:
        self.client = console()

    def page(self, address: str, status: int = 200) -> str:
        got = self.client.get(address)
        assert got.status_code == status, got.text
        return got.text

    def post(self, name: str, seen: str, word: str = "approve", **fields: str) -> Any:
        data = {"csrf": csrf(), "seen": seen, "word": word, "why": "as agreed", **fields}
        headers = {"origin": f"http://{HOST}"}
        return self.client.post(f"/proposal/{name}", data=data, headers=headers, follow_redirects=False)

    def prepare(self, name: str, word: str = "approve", **fields: str) -> Any:
        """Send a form as it stands on the proposal's page."""
        return self.post(name, seen_on(self.page(f"/proposal/{name}")), word, **fields)

    def decide(self, name: str, word: str = "approve", **fields: str) -> str:
        """Prepare a decision, let the terminal be answered, and return the page that follows."""
        assert self.prepare(name, word, **fields).status_code == 303
        answered()
        return self.page(f"/proposal/{name}")


def seen_on(page: str) -> str:
    return dict(FORM.findall(page))["seen"]


def answered() -> None:
    """Wait until no question is open at the terminal any more."""
    for thread in threading.enumerate():
        if thread.name == "signing":
            thread.join(180)
            assert not thread.is_alive()


def text_of(page: str) -> list[str]:
    """The printed lines of the proposal that a page shows."""
    _, _, rest = page.partition('<div class="proposal">')
    rows = re.findall(r'<div class="line [a-z]+">(.*?)</div>', rest.partition("</section>")[0], re.DOTALL)
    return [html.unescape(re.sub("<[^>]*>", "", row)) for row in rows]


def decided(shop: Shop) -> list[Any]:
    return [event for event in shop.log.read() if event.type == "proposal.decided"]


# -- reading -----------------------------------------------------------------------------------


def test_a_proposal_stands_there_line_by_line_as_the_terminal_prints_it(shop) -> None:
    name = shop.propose(HOSTILE)
    page = Browser().page(f"/proposal/{name}")

    told = lines(show(desk_of(App.here(), writes=False), name), width=10**6)

    assert text_of(page) == [line.text for line in told]
    assert len(told) > 20
    assert not {"\u202e", "\x1b", "\u0430"} & set(page.partition("<textarea")[0])
    assert "<script" not in page
    assert "\\u{202E}&lt;script&gt;" in re.sub("</?span[^>]*>", "", page)


def test_the_decision_stands_behind_the_last_line(shop) -> None:
    """Whoever can approve has the end of the document before them."""
    name = shop.propose("\n".join(map(str, range(200))))
    page = Browser().page(f"/proposal/{name}")

    assert page.index("# action") < page.index("</section>") < page.index("<form")
    assert page.count("Approve at the terminal") == 1


def test_the_list_tells_what_waits_and_what_became_of_the_rest(shop) -> None:
    shop.propose("Times are stored in UTC")
    declined = shop.propose("Times are stored in CET")
    shop.told("decide", declined, "decline", "--rationale", "no", code=1)
    shop.folder.joinpath(".coord/memory-proposals/odd.json").write_text("no json")
    page = Browser().page("/proposals")

    waiting, _, ended = page.partition("<h2>Decided</h2>")
    assert "Times are stored in UTC" in waiting
    assert "Times are stored in CET" not in waiting
    assert "Times are stored in CET" in ended
    assert "declined" in ended
    assert "odd.json: not_json" in page


def test_a_person_is_told_what_became_of_a_proposal(shop) -> None:
    name = shop.propose()
    shop.told("decide", name, "decline", "--rationale", "not <b>now</b>", code=1)
    page = Browser().page(f"/proposal/{name}")

    assert "It is declined: nothing is left to decide." in page
    assert "not &lt;b&gt;now&lt;/b&gt;" in page
    assert "at the terminal</button>" not in page


@pytest.mark.parametrize("name", ["nothing", "12345678", "..%2F..%2Fetc%2Fpasswd", "%3Cscript%3E"])
def test_what_is_no_proposal_is_said_to_be_none(shop, name) -> None:
    page = Browser().page(f"/proposal/{name}", status=404)

    assert "no proposal has the id" in page
    assert "<script" not in page


def test_looking_changes_nothing(shop) -> None:
    waiting, declined = shop.propose("one"), shop.propose("two")
    shop.told("decide", declined, "decline", "--rationale", "no", code=1)
    folders = (Path(os.environ["RECALL_HOME"]), shop.folder)
    before = {path: path.read_bytes() for one in folders for path in one.rglob("*") if path.is_file()}
    browser = Browser()

    for address in ("/proposals", f"/proposal/{waiting}", f"/proposal/{declined}"):
        browser.page(address)

    assert {path: path.read_bytes() for one in folders for path in one.rglob("*") if path.is_file()} == before


# -- deciding ----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["approve", "decline"])
def test_what_is_signed_is_what_the_command_signs_field_by_field(shop, monkeypatch, tmp_path, word) -> None:
    """At one moment, with one chance value: the same event, to the last bit of its signature."""
    monkeypatch.setattr(App, "now", lambda self: DECIDED)
    monkeypatch.setitem(CoordDesk.__init__.__kwdefaults__, "random", lambda count: b"r" * count)
    name = shop.propose()
    home = Path(os.environ["RECALL_HOME"])
    for folder in (home, shop.folder):
        shutil.copytree(folder, tmp_path / "before" / folder.name, symlinks=True)
    shop.told("decide", name, word, "--rationale", "as agreed", code=word == "decline")
    [by_command] = decided(shop)
    for folder in (home, shop.folder):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "before" / folder.name, folder, symlinks=True)
    os.chdir(shop.folder)
    typist = sit_down(monkeypatch)

    Browser().decide(name, word)

    [by_page] = decided(shop)
    assert by_page.body == by_command.body
    assert (by_page.id, by_page.type, by_page.ts, by_page.actor) == (
        by_command.id, by_command.type, by_command.ts, by_command.actor
    )  # fmt: skip
    decision = by_page.body["decision"]
    assert mac_holds(decision, KeyStore(home).by_id(decision["key_id"]).secret)
    assert decision["actor"] == "ana"
    assert [text.startswith(f"To {word}, type ") for text in typist.asked] == [True]


def test_the_terminal_shows_the_document_and_the_reason_before_it_asks(shop, monkeypatch) -> None:
    typist = sit_down(monkeypatch)
    monkeypatch.setattr("recall.cli.person.columns", lambda: 80)
    name = shop.propose(HOSTILE)
    told = [line.text for line in lines(show(desk_of(App.here(), writes=False), name))]

    Browser().decide(name, why="so\u202eit is")

    assert typist.shown[1 : len(told) + 1] == told
    assert any("so\\u{202E}it is" in line for line in typist.shown)
    assert not any("\u202e" in line for line in typist.shown)


def test_the_page_shows_the_outcome(shop) -> None:
    name = shop.propose()
    page = Browser().decide(name)

    assert f"{name[:8]} is approved; it counts once it is applied: recall coord apply {name[:8]}" in page
    assert "Approve at the terminal" not in page
    assert fold_proposals(shop.log).documents[name].state == "approved"


def test_a_revision_is_a_new_proposal_and_nothing_is_approved(shop) -> None:
    name = shop.propose()
    Browser().decide(name, "revise", summary="Times are stored\r\nin UTC", evidence="docs/time.md\r\n\r\nticket 12\r\n")

    states = fold_proposals(shop.log).documents
    [new] = [one for one in states.values() if one.id != name]
    assert (states[name].state, new.state) == ("revised", "proposed")
    assert new.document["action"]["summary"] == "Times are stored\nin UTC"
    assert new.document["action"]["evidence_refs"] == ["docs/time.md", "ticket 12"]


@pytest.mark.parametrize("typed", ["ffffff", "", "approve"])
def test_wrong_digits_decide_nothing(shop, monkeypatch, typed) -> None:
    name = shop.propose()
    sit_down(monkeypatch, typed)
    before = shop.log.head()

    page = Browser().decide(name)

    assert "not confirmed; nothing was decided" in page
    assert "Approve at the terminal" in page
    assert shop.log.head() == before


@pytest.mark.parametrize("why", ["", "   ", "x" * 2001], ids=["none", "blanks", "too long"])
def test_without_a_reason_nobody_is_asked(shop, monkeypatch, why) -> None:
    typist = sit_down(monkeypatch)
    done = Browser().prepare(shop.propose(), why=why)

    assert done.status_code == 409
    assert "a decision has a reason" in done.text
    assert typist.asked == []


def test_what_changed_since_the_page_was_made_is_not_asked_about(shop, monkeypatch) -> None:
    typist = sit_down(monkeypatch)
    name, browser = shop.propose(), Browser()
    seen = seen_on(browser.page(f"/proposal/{name}"))
    (shop.folder / "docs" / "time.md").write_text("No clocks.\n")

    done = browser.post(name, seen)

    assert done.status_code == 409
    assert "changed_since_shown" in done.text
    assert "No clocks." in done.text, "the page shows what stands there now"
    assert typist.asked == []


def test_what_changes_while_the_terminal_asks_is_not_decided(shop, monkeypatch) -> None:
    typist = sit_down(monkeypatch)
    name = shop.propose()

    def late(text: str, ask=typist.ask) -> str:
        (shop.folder / "docs" / "time.md").write_text("No clocks.\n")
        return ask(text)

    monkeypatch.setattr(typist, "ask", late)
    page = Browser().decide(name)

    assert "not decided: changed_since_shown" in page
    assert decided(shop) == []


class Thinking(Typist):
    """Answers when they are told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asking, self.may = threading.Event(), threading.Event()

    def ask(self, text: str) -> str:
        self.asking.set()
        assert self.may.wait(120)
        return super().ask(text)


def test_one_decision_is_asked_for_at_a_time(shop, monkeypatch) -> None:
    first, second = shop.propose("one"), shop.propose("two")
    person = Thinking()
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: person)
    browser = Browser()

    assert browser.prepare(first).status_code == 303
    assert person.asking.wait(120)
    try:
        meanwhile = browser.page(f"/proposal/{first}")
        refused = browser.prepare(second)
    finally:
        person.may.set()
    answered()

    assert "To approve: the terminal shows this proposal" in meanwhile
    assert "Approve at the terminal" not in meanwhile
    assert refused.status_code == 409
    assert f"the terminal still asks about {first[:8]}" in refused.text
    states = fold_proposals(shop.log).documents
    assert (states[first].state, states[second].state) == ("approved", "proposed")


def test_without_a_terminal_the_page_names_the_command(shop, monkeypatch) -> None:
    name = shop.propose()
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: None)
    browser = Browser()
    page = browser.page(f"/proposal/{name}")

    assert f"<code>recall coord review {name[:8]}</code>" in page
    assert "at the terminal</button>" not in page
    assert browser.post(name, "").status_code == 409
    assert decided(shop) == []


def test_without_a_key_the_page_says_how_to_make_one(shop) -> None:
    name = shop.propose()
    shutil.rmtree(Path(os.environ["RECALL_HOME"]) / "keys")
    browser = Browser()
    page = browser.page(f"/proposal/{name}")

    assert "recall coord key new" in page
    assert browser.post(name, "").status_code == 409
    assert decided(shop) == []


def test_what_is_decided_is_decided_once(shop) -> None:
    name, browser = shop.propose(), Browser()
    seen = seen_on(browser.page(f"/proposal/{name}"))
    browser.decide(name)

    assert browser.post(name, seen).status_code == 409
    assert len(decided(shop)) == 1


@pytest.mark.parametrize(("word", "status"), [("apply", 400), ("", 400), ("revise", 409)])
def test_only_what_can_be_decided_is_asked_for(shop, monkeypatch, word, status) -> None:
    typist = sit_down(monkeypatch)
    name = shop.propose()

    done = Browser().prepare(name, word, summary="Times are stored in UTC", evidence="docs/time.md")

    assert done.status_code == status
    assert typist.asked == []
