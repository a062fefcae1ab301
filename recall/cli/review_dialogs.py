"""Pieces of the review screen: printed lines in a pane, the editor of a revision, and what confirms a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content, Span
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer, Input, Label, Static, TextArea

from consolidation.coord_escape import odd
from consolidation.coord_show import Line, instead, wrapped
from recall.cli.coord_reviewing import Review, cleaned
from recall.cli.person import DIGITS
from transcript.errors import CoordError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from textual.events import Resize

    from consolidation.coord_decide import Shown

STYLES = {
    "title": "bold $text-accent",
    "warning": "bold $text-warning",
    "hash": "dim",
    "note": "dim",
    "escape": "bold $text-error",
    "mixed": "bold $text-warning",
    "blank": "dim",
}


def content(rows: Sequence[Line]) -> Content:
    """Return printed rows in their colours; nothing in them is markup."""
    text: list[str] = []
    spans: list[Span] = []
    at = 0

    def put(piece: str, style: str) -> None:
        nonlocal at
        if style:
            spans.append(Span(at, at + len(piece), style))
        text.append(piece)
        at += len(piece)

    for number, row in enumerate(rows):
        put(("\n" if number else "") + row.gutter, STYLES["note"] if row.gutter else "")
        for segment in row.segments:
            put(segment.text, STYLES.get(segment.kind) or STYLES.get(row.style, ""))
    return Content("".join(text), spans)


class Pane(VerticalScroll):
    """Lines that are wrapped to its width; says once that their end was seen."""

    class Ended(Message):
        """The last row is, or was, in sight."""

    def __init__(self, *, name: str) -> None:
        super().__init__(id=name)
        self.ended = False
        self._lines: list[Line] = []
        self._rows = 0
        self._body = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield self._body

    def show(self, lines: list[Line]) -> None:
        """Show other lines, from the first."""
        self._lines = lines
        self._fit()
        self.scroll_home(animate=False)

    def on_resize(self, _: Resize) -> None:
        self._fit()

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._look()

    @property
    def share(self) -> int:
        """How much of the rows has been passed, in percent."""
        height = self.scrollable_content_region.height
        return min(100, round(100 * (self.scroll_offset.y + height) / max(1, self._rows)))

    def _fit(self) -> None:
        width = self.scrollable_content_region.width
        if width:
            rows = wrapped(self._lines, width)
            self._rows = len(rows)
            self._body.update(content(rows))
            self.call_after_refresh(self._look)

    def _look(self) -> None:
        laid_out = self._rows and self.virtual_size.height >= self._rows
        if laid_out and not self.ended and self.scroll_offset.y >= self.max_scroll_y:
            self.ended = True
        self.post_message(self.Ended())


class ReviseScreen(Screen["dict[str, Any]"]):
    """An editor for what is to be proposed instead."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", "Go on"),
        Binding("tab", "app.focus_next", "Next field"),
        Binding("escape", "back", "Back"),
    ]

    def __init__(self, review: Review, what: Shown) -> None:
        super().__init__()
        self.review, self.what = review, what

    def compose(self) -> ComposeResult:
        action = self.what.document.action
        yield Label("a new proposal instead of this one; it waits for a decision of its own", id="title", markup=False)
        yield Label("summary", classes="name")
        yield TextArea(cleaned(str(action["summary"])), id="summary")
        yield Label("evidence, one reference a line", classes="name")
        yield TextArea(cleaned("\n".join(action["evidence_refs"])), id="refs")
        if "content" in action:
            yield Label("text of the file", classes="name")
            yield TextArea(cleaned(str(action["content"]["text"])), id="content")
        words = ", ".join(odd(str(action["summary"])).words[:8])
        told = f"letters that pass for others, type them anew: {words}" if words else ""
        yield Static(told, id="said", classes="bad", markup=False)
        yield Footer()

    def action_done(self) -> None:
        refs = [line.strip() for line in self.query_one("#refs", TextArea).text.splitlines() if line.strip()]
        summary = self.query_one("#summary", TextArea).text
        new: dict[str, Any] = {"summary": summary, "evidence_refs": list(dict.fromkeys(refs))}
        if found := self.query("#content"):
            new["content"] = {**self.what.document.action["content"], "text": found.first(TextArea).text}
        try:
            self.dismiss(self.review.revised(self.what, **new))
        except CoordError as error:
            said = self.query_one("#said", Static)
            said.update(str(error))
            said.add_class("bad")

    def action_back(self) -> None:
        self.dismiss(None)


class ConfirmScreen(ModalScreen[str]):
    """Asks why, and for the first digits of what is signed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back")]

    def __init__(self, what: Shown, word: str, warned: list[str], revised: dict[str, Any] | None) -> None:
        super().__init__()
        self.what, self.word, self.warned, self.revised = what, word, warned, revised

    def compose(self) -> ComposeResult:
        digits = self.what.action_hash[:DIGITS]
        with VerticalScroll(id="ask"):
            yield Label(f"{self.word} {self.what.document.id}", id="word", markup=False)
            for text in self.warned:
                yield Static(f"! {text}", classes="warned", markup=False)
            if self.revised is not None:
                yield Static(content(wrapped(instead(self.revised), 66)), id="instead")
            yield Static(f"the action's hash  {self.what.action_hash}", markup=False)
            yield Label("why?", classes="name")
            yield Input(id="why", max_length=2000)
            yield Label(f"to {self.word}, type {digits}, the beginning of the hash", classes="name", markup=False)
            yield Input(id="digits", max_length=DIGITS)
            yield Static("Enter goes on, Escape goes back: nothing is decided yet", id="asked", markup=False)

    def on_mount(self) -> None:
        self.query_one("#why", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        why, digits = self.query_one("#why", Input), self.query_one("#digits", Input)
        if not why.value.strip():
            self._bad("a decision has a reason", why)
        elif event.input is why:
            digits.focus()
        elif digits.value.strip().lower() != self.what.action_hash[:DIGITS]:
            self._bad("these are not the first digits of the hash; nothing is decided", digits)
        else:
            self.dismiss(why.value.strip())

    def _bad(self, text: str, field: Input) -> None:
        asked = self.query_one("#asked", Static)
        asked.update(text)
        asked.add_class("bad")
        field.focus()

    def action_back(self) -> None:
        self.dismiss(None)
