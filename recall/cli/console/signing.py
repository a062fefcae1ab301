"""Decisions that a page prepared: a person signs them at the terminal where the console was started, one at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from consolidation.coord_decide import MOST_RATIONALE
from recall.cli import person as people
from recall.cli.coord_ask import confirmed, decider
from recall.cli.coord_reviewing import Review
from recall.cli.coord_work import desk_of, followed, settle
from transcript.errors import CoordError, NotConfirmed, RecallError

if TYPE_CHECKING:
    from consolidation.coord_decide import Shown
    from recall.cli.app import App

WORDS = ("approve", "decline", "revise")
ENDED = "the question at the terminal ended without an answer; nothing was decided"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision as a page prepared it: `seen` is the seal of what the page showed, `changed` what to say instead."""

    proposal: str  # the whole id
    word: str  # one of WORDS
    rationale: str
    seen: str
    changed: Mapping[str, Any] = field(default_factory=dict)


class Signing:
    """The question at the terminal, and what came of the ones before it; one for a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refusal: str | None = None
        self._asked: Prepared | None = None
        self._outcomes: dict[str, str] = {}
        self._thread: threading.Thread | None = None

    def refusal(self, app: App) -> str:
        """Return why nobody can be asked where the console was started, "" where a person can; looked up once."""
        with self._lock:
            if self._refusal is None:
                try:
                    people.at_terminal(app.env)
                    self._refusal = ""
                except CoordError as error:
                    self._refusal = str(error)
            return self._refusal

    @property
    def asked(self) -> Prepared | None:
        """What the terminal asks about now, None where nothing waits for an answer there."""
        return self._asked

    def outcome(self, proposal: str) -> str:
        """Return what came of the last decision that was prepared on a proposal here, "" where there was none."""
        return self._outcomes.get(proposal, "")

    def wait(self, seconds: float) -> bool:
        """Return whether no question is open any more, after at most so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._asked is None

    def prepare(self, app: App, prepared: Prepared) -> None:
        """Let the terminal show the proposal, whole, and ask for the digits; returns at once, nothing is decided yet.

        CoordError where it cannot be decided so or is not what the page showed any more; NotConfirmed without a reason
        and while the terminal asks about something else.
        """
        if prepared.word not in WORDS:
            raise ValueError(f"a decision is {', '.join(WORDS)}, not {prepared.word!r}")
        why = prepared.rationale.strip()
        if not why or len(why) > MOST_RATIONALE:
            raise NotConfirmed(
                f"a decision has a reason, of at most {MOST_RATIONALE:,} characters; nothing was decided"
            )
        with self._lock:
            if self._asked is not None:
                about = self._asked.proposal[:8]
                raise NotConfirmed(
                    f"the terminal still asks about {about}; answer there first, Enter alone decides nothing"
                )
            question = _Question(app, prepared)
            self._asked = prepared
            self._outcomes.pop(prepared.proposal, None)
            self._thread = threading.Thread(target=self._ask, args=(question,), name="signing", daemon=True)
            self._thread.start()

    def _ask(self, question: _Question) -> None:
        name, said = question.prepared.proposal, ENDED
        try:
            said = question.answered()
        except (RecallError, OSError) as error:
            said = str(error) if isinstance(error, NotConfirmed) else f"not decided: {error}"
        finally:
            with self._lock:
                self._outcomes[name], self._asked = said, None
        with contextlib.suppress(OSError):  # the terminal was closed meanwhile; the page tells the same
            question.terminal.say(said)


class _Question:
    """One decision, from what the page prepared to what is recorded."""

    def __init__(self, app: App, prepared: Prepared) -> None:
        """Look at the proposal as it stands; CoordError where a person cannot be asked about it."""
        from transcript.coord_codes import Refusal
        from transcript.proposals import may_decide

        desk = desk_of(app, writes=True)
        person, self.terminal = decider(app, desk, prepared.proposal)
        self.work, self.prepared = Review(app, desk, person), prepared
        settle(desk, self.work.effects)
        self.what = self.work.show(prepared.proposal)
        if seal(self.what) != prepared.seen:
            raise Refusal("changed_since_shown", "document").error()
        known = desk.state().documents.get(prepared.proposal)
        if known is None or not may_decide(known.state, prepared.word):
            raise Refusal("decided_already", "state").error()
        desk.keys.current()  # nobody is asked for what cannot be signed
        self.revised = self.work.revised(self.what, **prepared.changed) if prepared.word == "revise" else None

    def answered(self) -> str:
        """Show it at the terminal, ask, sign and record; return what to say of it."""
        from consolidation.coord_escape import escaped
        from consolidation.coord_show import Line, instead, lines, wrapped

        width, word = people.columns(), self.prepared.word
        told = lines(self.what, width=width)
        if self.revised is not None:
            told += wrapped(instead(self.revised), width)
        because = escaped(self.prepared.rationale.strip())
        told += wrapped((Line("  why │ ", segments, "field") for segments in because), width)
        self.terminal.say("")
        for line in told:
            self.terminal.say(line.text)
        self.terminal.say(f"prepared in the browser: {word}. Enter alone decides nothing.")
        why = confirmed(self.terminal, self.what, word, rationale=self.prepared.rationale)
        said = self.work.decide(self.what, word, why, revised=self.revised)
        if self.work.effects.changed:
            followed(self.work.app, self.work.desk, self.work.effects)
        return said


def seal(what: Shown) -> str:
    """Return a hash of all that a person is shown of a proposal: another one means that something changed."""
    from transcript.canonical import canonical, sha256_hex

    target = [what.target.hash, what.target.text] if what.target is not None else []
    evidence = [[part.hash, part.text] for part in what.evidence]
    shown = {"signed": dict(what.evidence_hashes), "evidence": evidence, "target": target}
    return sha256_hex(what.raw + canonical(shown))
