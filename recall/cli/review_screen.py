"""The review as a screen: a list of what waits, each proposal whole with its evidence beside it, and the decision.

Nothing else imports textual but this and `review_dialogs`. Every text of a proposal is printed as
`consolidation.coord_escape` says and never read as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content, Span
from textual.screen import Screen
from textual.widgets import Footer, Label, OptionList, Static
from textual.widgets.option_list import Option

from consolidation.coord_escape import Segment
from consolidation.coord_show import Line, changed, document, evidence, hashes, taken_in, warnings
from recall.cli.coord_reviewing import Review, Waiting
from recall.cli.review_dialogs import ConfirmScreen, Pane, ReviseScreen
from transcript.errors import CoordError
from transcript.telling import counted

if TYPE_CHECKING:
    from typing import Any

    from consolidation.coord_decide import Shown
    from consolidation.coord_refs import Evidence

WIDE = 110  # columns from which the evidence stands beside the document


def run(review: Review, only: str = "") -> None:
    """Let the person of a review decide on the screen, until they close it."""
    ReviewApp(review, only).run()


class ListScreen(Screen[None]):
    """What waits for a decision."""

    def __init__(self, review: Review) -> None:
        super().__init__()
        self.review = review
        self.said, self.bad = "", False

    def compose(self) -> ComposeResult:
        yield Label("", id="title", markup=False)
        yield OptionList(id="list", markup=False)
        yield Static("", id="said", markup=False)
        yield Footer()

    def on_screen_resume(self) -> None:
        self._fill()

    def _fill(self) -> None:
        found = self.review.waiting()
        title = f"{counted(len(found), 'proposal')} waiting for a decision" if found else "nothing waits for a decision"
        if self.review.unread():
            title += f"; {counted(self.review.unread(), 'file')} cannot be shown: recall coord verify"
        self.query_one("#title", Label).update(title)
        held = self.query_one("#list", OptionList)
        at = held.highlighted or 0
        held.clear_options()
        held.add_options([Option(_row(one), id=one.id) for one in found])
        held.display = bool(found)
        if found:
            held.highlighted = min(at, len(found) - 1)
            held.focus()
        said = self.query_one("#said", Static)
        fault = self.review.key_fault()
        said.update(self.said or fault or ("Enter shows one of them" if found else "q closes this"))
        said.set_class(bool(self.bad or (fault and not self.said)), "bad")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.open(str(event.option.id))

    def open(self, name: str) -> None:
        """Show a proposal, or say why it cannot be shown."""
        try:
            what = self.review.show(name)
        except CoordError as error:
            self.tell(str(error), bad=True)
            return
        self.app.push_screen(ProposalScreen(self.review, what), self._after)

    def tell(self, text: str, *, bad: bool = False) -> None:
        """Say something below the list."""
        self.said, self.bad = text, bad
        self._fill()

    def _after(self, told: tuple[str, bool] | None) -> None:
        if told is not None:
            self.tell(told[0], bad=told[1])


def _row(one: Waiting) -> Content:
    head = f"{one.operation}  {one.about}".rstrip()
    tail = f"{one.id}  {one.at[:16].replace('T', ' ')}  by {one.by}"
    summary = one.summary if len(one.summary) <= 300 else f"{one.summary[:300]} …"
    whole = f"{head}\n{summary}\n{tail}"
    return Content(whole, [Span(0, len(head), "bold"), Span(len(whole) - len(tail), len(whole), "dim")])


class ProposalScreen(Screen[tuple[str, bool]]):
    """One proposal, whole, and its evidence."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('approve')", "Approve"),
        Binding("d", "decide('decline')", "Decline"),
        Binding("r", "revise", "Revise"),
        Binding("right_square_bracket", "turn(1)", "Evidence", key_display="]"),
        Binding("left_square_bracket", "turn(-1)", "Evidence before", key_display="[", show=False),
        Binding("tab", "app.focus_next", "Pane"),
        Binding("end", "end", "To the end", show=False),
        Binding("escape", "back", "Back"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012, the base class declares it so

    def __init__(self, review: Review, what: Shown) -> None:
        super().__init__()
        self.review, self.what = review, what
        self.warned = warnings(what)
        self.parts: list[tuple[str, Evidence]] = [("changes", part) for part in changed(what)]
        self.parts += [("evidence", part) for part in what.evidence]
        self.at = 0
        self.fault = review.key_fault()

    def compose(self) -> ComposeResult:
        action = self.what.document.action
        about = " ".join(str(action[name]) for name in ("operation", "kind") if name in action)
        yield Label(f"{about}: proposal {self.what.document.id}", id="title", markup=False)
        with Container(id="panes"):
            with Vertical(id="left"):
                yield Pane(name="document")
            with Vertical(id="right"):
                yield Label("", id="which", markup=False)
                yield Pane(name="evidence")
        yield Static("", id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        head = [Line("", (Segment(f"! {text}"),), "warning") for text in self.warned]
        pane = self.query_one("#document", Pane)
        taken = [line for part in taken_in(self.what) for line in evidence(part)]  # to be read to its end as well
        pane.show([*head, *document(self.what), *taken, *hashes(self.what)])
        pane.focus()
        self._turned()

    def on_pane_ended(self, _: Pane.Ended) -> None:
        self._say()
        self.refresh_bindings()

    def _say(self) -> None:
        pane = self.query_one("#document", Pane)
        said = self.query_one("#said", Static)
        warned = f"{counted(len(self.warned), 'warning')}; " if self.warned else ""
        if self.fault:
            said.update(self.fault)
        elif pane.ended:
            said.update(f"{warned}seen to its end: a approves, d declines, r revises")
        else:
            said.update(f"{warned}{pane.share} % seen; PageDown to its end, then it can be approved")
        said.set_class(bool(self.fault or self.warned), "bad")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Approve once the end was reached, decide only with a key, turn where there is something to turn."""
        if action in ("decide", "revise") and self.fault:
            return None
        if action == "decide" and parameters == ("approve",):
            panes = self.query("#document")
            return True if panes and panes.first(Pane).ended else None
        if action == "turn":
            return len(self.parts) > 1
        return True

    def action_turn(self, step: int) -> None:
        self.at = (self.at + step) % max(1, len(self.parts))
        self._turned()

    def _turned(self) -> None:
        which, pane = self.query_one("#which", Label), self.query_one("#evidence", Pane)
        if not self.parts:
            which.update("no evidence")
            pane.show([])
            return
        kind, part = self.parts[self.at]
        several = f" {self.at + 1} of {len(self.parts)}" if len(self.parts) > 1 else ""
        which.update(("what it changes, as it stands now" if kind == "changes" else "evidence") + several)
        pane.show(evidence(part))

    def action_end(self) -> None:
        focused = self.focused if isinstance(self.focused, Pane) else self.query_one("#document", Pane)
        focused.scroll_end(animate=False)

    def action_back(self) -> None:
        self.dismiss(None)

    def action_decide(self, word: str) -> None:
        self._confirm(word)

    def action_revise(self) -> None:
        self.app.push_screen(ReviseScreen(self.review, self.what), self._revised)

    def _revised(self, action: dict[str, Any] | None) -> None:
        if action is not None:
            self._confirm("revise", action)

    def _confirm(self, word: str, revised: dict[str, Any] | None = None) -> None:
        def after(why: str | None) -> None:
            if why is None:
                return
            try:
                self.dismiss((self.review.decide(self.what, word, why, revised=revised), False))
            except CoordError as error:
                self.dismiss((f"{self.what.document.id[:8]} is not decided: {error}", True))

        self.app.push_screen(ConfirmScreen(self.what, word, self.warned, revised), after)


class ReviewApp(App[None]):
    """The review of one project's proposals."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "theme", "Theme"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False),  # a field that has the focus takes it to copy
    ]
    CSS = """
    #title { width: 100%; text-style: bold; background: $panel; padding: 0 1; }
    #said { width: 100%; height: auto; max-height: 4; padding: 0 1; }
    #said.bad, #asked.bad, .warned { color: $text-warning; }
    #list { height: 1fr; border: none; }
    #panes { height: 1fr; }
    ProposalScreen.-wide #panes { layout: horizontal; }
    ProposalScreen.-wide #left { width: 3fr; height: 100%; }
    ProposalScreen.-wide #right { width: 2fr; height: 100%; }
    ProposalScreen.-narrow #left { height: 2fr; }
    ProposalScreen.-narrow #right { height: 1fr; }
    Pane { height: 1fr; padding: 0 1; overflow-y: scroll; scrollbar-size-vertical: 1; }
    Pane:focus { background: $surface; }
    #which { width: 100%; background: $panel; padding: 0 1; }
    .name { padding: 1 1 0 1; }
    ConfirmScreen .name { padding: 1 0 0 0; }
    ReviseScreen TextArea { height: 1fr; }
    ReviseScreen #refs { height: 6; }
    ConfirmScreen { align: center middle; }
    #ask { width: 76; max-width: 100%; height: auto; max-height: 100%; border: round $warning; padding: 0 1; }
    #word { text-style: bold; }
    """

    def __init__(self, review: Review, only: str = "") -> None:
        super().__init__()
        self.review, self.only = review, only
        self.animation_level = "none"

    def on_mount(self) -> None:
        first = ListScreen(self.review)
        self.push_screen(first)
        if self.only:
            self.call_after_refresh(first.open, self.only)

    def action_theme(self) -> None:
        self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"
