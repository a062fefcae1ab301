"""The console in a real browser, its server in a real terminal: read and decided on by keyboard alone."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.hooks import PATIENCE_MS, wait_for
from support.person import make_key
from support.project import exchanges, git_project, take_in

from recall.cli.app import App
from recall.cli.caller import AGENTS
from recall.cli.group import run
from transcript.memories import fold_memories
from transcript.proposals import fold_proposals

if sys.platform == "win32":
    pytest.skip("needs a POSIX terminal", allow_module_level=True)

import fcntl
import termios

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the group browser")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the group browser")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")]

HOSTILE = "Keep the backups.\u202e<script>alert(1)</script>\n\n\n\n p\u0430ypal " + "x" * 300
TALK = exchanges(
    [
        ("Where do the ports come from?", "Ports come from config.toml, the importer reads it once."),
        ("Why does the importer read every file twice?", "Because the first pass counts the lines. " + "y" * 200),
    ]
)
# The first terminal that a session's leader takes is the one that controls it; this one stands on its standard input.
TAKES_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
OUTLINED = "() => getComputedStyle(document.activeElement).outlineStyle"
FOCUSED = "() => { const e = document.activeElement; return (e.textContent || e.name || '').trim() }"
SIDEWAYS = "() => document.documentElement.scrollWidth"
OPEN_ALL = "() => document.querySelectorAll('details').forEach(one => one.open = true)"


@dataclass
class Project:
    """A project with sessions, turns, memories and a proposal, and where they are."""

    folder: Path
    env: dict[str, str]
    proposal: str
    memory: str
    turn: str
    session: str

    @property
    def pages(self) -> list[str]:
        """One address of every page, and one that does not exist."""
        return [
            "/", "/turns", "/turns?all=1", f"/turn/{self.turn}", "/sessions", f"/session/{self.session}",
            "/search?q=importer+ports", "/memories", f"/memory/{self.memory}", "/proposals",
            f"/proposal/{self.proposal}", "/health", "/nothing",
        ]  # fmt: skip


class Console:
    """`recall ui` in a terminal of its own, and what stands on that."""

    def __init__(self, project: Project) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x28\x00\x64\x00\x00\x00\x00\x00")  # 40 lines of 100 columns
        words = [sys.executable, "-m", "recall.cli.main", "ui"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKES_TERMINAL, *words],
            cwd=project.folder, env=project.env, start_new_session=True, stdin=slave, stdout=slave, stderr=slave,
        )  # fmt: skip
        os.close(slave)
        self._shown = b""
        threading.Thread(target=self._read, daemon=True).start()
        address = self.wait_for(r"(http://127\.0\.0\.1:\d+)/\?token=\S+\s")
        self.entry, self.origin = address[0].strip(), address[1]

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while part := os.read(self._master, 65536):
                self._shown += part

    def shown(self) -> str:
        return self._shown.decode("utf-8", "replace")

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first place on the terminal that a pattern fits."""
        wait_for(lambda: re.search(pattern, self.shown()))
        found = re.search(pattern, self.shown())
        assert found is not None
        return found

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.type("\x03")
        try:
            return self.process.wait(120)
        finally:
            self.process.kill()
            os.close(self._master)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = tmp_path_factory.mktemp("console")
    with pytest.MonkeyPatch.context() as patch:
        for name in AGENTS:
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        patch.setenv("RECALL_HOME", str(home / "data"))
        patch.setenv("RECALL_ACTOR", "human:ana")
        folder = git_project(home / "shop")
        patch.chdir(folder)
        take_in(folder, [TALK], words_only=True)
        make_key(home / "data")
        (folder / "time.md").write_text("All clocks run on UTC.\n" * 90)
        app = App.here()
        log = app.log(app.workspace())
        said = next(event for event in log.read() if event.type == "conversation_turn" and event.actor == "assistant")
        text = "Ports come from config.toml, the importer reads it once."
        evidence = f"{said.id[:10]}#0-{len(text)}"
        for words in (
            ["memory", "add", text, "--evidence", evidence, "--why", "it says so"],
            ["query", "where do the ports come from"],
            ["coord", "propose", "add", "--summary", HOSTILE, "--evidence", "time.md"],
        ):
            assert run(words) == 0
        [memory] = fold_memories(log).memories
        [proposal] = fold_proposals(log).documents
        turn = next(event for event in log.read() if event.type == "recall")
        return Project(folder, dict(os.environ), proposal, memory, turn.id, said.session)


@pytest.fixture
def console(project: Project) -> Iterator[Console]:
    started = Console(project)
    yield started
    if started.process.poll() is None:
        assert started.end() == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=as_root, timeout=PATIENCE_MS)
        yield started
        started.close()


@pytest.fixture
def look(browser: Any, console: Console) -> Iterator[Callable[..., tuple[Any, list[str]]]]:
    """Opens the console; what is asked of anybody else, and what the browser complains of, is collected."""
    contexts = []

    def opened(*, width: int = 1280, scheme: str = "light") -> tuple[Any, list[str]]:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page, heard = context.new_page(), []
        page.on("request", lambda one: None if one.url.startswith(console.origin + "/") else heard.append(one.url))
        page.on("console", lambda one: None if "status of 404" in one.text else heard.append(one.text))
        page.on("pageerror", lambda one: heard.append(str(one)))
        page.goto(console.entry)
        page.wait_for_url(f"{console.origin}/")
        return page, heard

    yield opened
    for context in contexts:
        context.close()


def tab_to(page: Any, wanted: str) -> None:
    """Press Tab until what has the focus begins with these words; it is outlined all the way."""
    for _ in range(300):
        page.keyboard.press("Tab")
        here = page.evaluate(FOCUSED)
        assert page.evaluate(OUTLINED) != "none", here
        if here.startswith(wanted):
            return
    raise AssertionError(f"{wanted} is not reached by Tab on {page.url}")


def follow(page: Any, wanted: str) -> None:
    """Go where a link leads, by keyboard."""
    tab_to(page, wanted)
    before = page.url
    page.keyboard.press("Enter")
    page.wait_for_function("before => location.href !== before && document.readyState === 'complete'", arg=before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_accessible_fits_and_asks_nobody_else(look, project, console, width, scheme) -> None:
    page, heard = look(width=width, scheme=scheme)
    for address in project.pages:
        got = page.goto(console.origin + address)
        page.evaluate(OPEN_ALL)

        assert got.status == (404 if address == "/nothing" else 200), (address, console.shown()[-3000:])
        assert page.evaluate(SIDEWAYS) <= width, address
        found = axe.Axe().run(page).response
        assert [(one["id"], one["nodes"][0]["target"]) for one in found["violations"]] == [], address
        assert len(found["passes"]) > 10
    assert heard == []


def test_the_whole_tour_is_made_by_keyboard_and_ends_in_a_signed_decision(look, project, console, monkeypatch) -> None:
    page, heard = look()

    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Skip to the page"
    for wanted, address in (
        ("Turns", "/turns"),
        ("deliberate searches too", "/turns?all=1"),
        ("where do the ports come from", f"/turn/{project.turn}"),
        ("Sessions", "/sessions"),
        ("Search", "/search"),
        ("Memories", "/memories"),
        ("Ports come from config.toml", f"/memory/{project.memory}"),
        ("Health", "/health"),
        ("Proposals", "/proposals"),
        (project.proposal[:8], f"/proposal/{project.proposal}"),
    ):
        follow(page, wanted)
        assert page.url == console.origin + address
    tab_to(page, "why")
    page.keyboard.type("as we agreed")
    page.keyboard.press("Enter")
    page.get_by_text("the terminal shows this proposal").wait_for()

    digits = console.wait_for(r"To approve, type ([0-9a-f]{6}) ")[1]
    console.type(f"{digits}\n")
    console.wait_for(f"{project.proposal[:8]} is approved")
    tab_to(page, "See what came of it")
    page.keyboard.press("Enter")
    page.get_by_text(f"{project.proposal[:8]} is approved; it counts once it is applied").wait_for()

    assert "\\u{202E}" in console.shown()
    assert "\u202e" not in console.shown()
    assert "as we agreed" in console.shown()
    monkeypatch.setenv("RECALL_HOME", project.env["RECALL_HOME"])
    monkeypatch.chdir(project.folder)
    app = App.here()
    known = fold_proposals(app.log(app.workspace())).documents[project.proposal]
    assert known.state == "approved"
    assert known.decision is not None
    assert (known.decision["actor"], known.decision["rationale"]) == ("ana", "as we agreed")
    assert run(["coord", "verify"]) == 0
    assert heard == []


def test_a_source_of_a_memory_leads_to_where_it_was_said(look, project, console) -> None:
    page, _ = look()
    page.goto(f"{console.origin}/memory/{project.memory}")
    page.locator("#sources a").first.click()
    page.wait_for_url(f"{console.origin}/session/{project.session}*")

    assert page.get_by_text("Ports come from config.toml, the importer reads it once.").first.is_visible()


def test_an_open_question_does_not_keep_the_console(look, project, console) -> None:
    """Whoever ends the console decides nothing by that."""
    page, _ = look()
    page.goto(f"{console.origin}/proposal/{project.proposal}")
    page.get_by_text("Propose something else instead").click()
    page.locator("textarea").first.fill("Keep the backups for 90 days.")
    page.locator("details input[name=why]").fill("shorter")
    page.get_by_role("button", name="Propose it so instead").click()
    console.wait_for(r"To revise, type [0-9a-f]{6} ")

    assert console.end() == 0
    assert "is revised" not in console.shown()
