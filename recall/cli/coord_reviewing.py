"""What a person does at a review, whether they are asked line by line or on a screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recall.cli.app import App
from recall.cli.coord_work import effects_of, settle

if TYPE_CHECKING:
    from consolidation.coord_decide import Decided, Shown
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_schema import Document
    from recall.cli.person import Person


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal that waits: its id, what it would do, its summary on one printable line, when and by whom it came."""

    id: str
    operation: str
    about: str
    summary: str
    at: str
    by: str


class Review:
    """The proposals that wait, and one person's decisions on them."""

    def __init__(self, app: App, desk: CoordDesk, person: Person) -> None:
        self.app, self.desk, self.person = app, desk, person
        self.effects = effects_of(app, desk)
        self.made: list[Decided] = []

    def waiting(self) -> list[Waiting]:
        """Return what waits for a decision now, the oldest first."""
        from consolidation.coord_escape import shown

        self.desk.forget_read()
        held, found = self.desk.documents().by_id, []
        for known in self.desk.state().documents.values():
            if known.state == "proposed" and not known.erased and known.id in held:
                document = held[known.id].document
                kind, subject = (document.action.get(name, "") for name in ("kind", "subject"))
                about = " ".join(shown(one) for one in (kind, subject, document.target) if one)
                summary = shown(str(document.action["summary"]))
                found.append(Waiting(known.id, document.operation, about, summary, known.ts, shown(known.by)))
        return found

    def unread(self) -> int:
        """Return how many files in the folder are no proposals that can be shown."""
        return len(self.desk.documents().faults)

    def show(self, name: str) -> Shown:
        """Return a proposal as it stands now; CoordError when it is not whole."""
        from consolidation.coord_decide import show

        return show(self.desk, name)

    def key_fault(self) -> str:
        """Return why nothing can be signed, "" where it can."""
        from transcript.errors import KeyFault

        try:
            self.desk.keys.current()
        except KeyFault as fault:
            return str(fault)
        return ""

    def revised(self, what: Shown, **changed: Any) -> dict[str, Any]:
        """Return the action with other words; CoordError where it cannot be proposed so, or nothing changed."""
        from recall.cli.coord_propose import revised_action

        return revised_action(self.desk, self.effects, what, changed)

    def decide(self, what: Shown, word: str, rationale: str, *, revised: Mapping[str, Any] | None = None) -> str:
        """Sign and record a decision on what was shown, and return what to say of it; CoordError at a refusal."""
        from consolidation.coord_decide import decide

        self.desk.now = self.app.now()
        made = decide(self.desk, what, word, person=self.person, rationale=rationale, revised=revised)
        self.made.append(made)
        settle(self.desk, self.effects)
        return told(made)


def told(made: Decided) -> str:
    """Return what a decision comes to, in a sentence."""
    short = made.document.id[:8]
    if made.new is not None:
        return f"{short} is revised, nothing is approved; the new proposal is {made.new.id}"
    if made.document.state == "approved":
        return f"{short} is approved; {next_of(made.document)}"
    return f"{short} is {made.document.state}"


def next_of(document: Document) -> str:
    """Return what follows when a document is approved."""
    short = document.id[:8]
    if not document.evidence_refs:
        return f"it has no evidence, so it is not applied: recall coord decide {short} revise --evidence REF"
    return f"it counts once it is applied: recall coord apply {short}"


def cleaned(text: str) -> str:
    """Return a text for an editor, without the characters that nobody sees."""
    from consolidation.coord_escape import unseen

    return "".join(char for char in text if char in "\n\t" or not unseen(char))
