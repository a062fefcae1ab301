"""The pages of proposals: what waits for a person, and each one whole, as the terminal shows it before it is signed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from consolidation.coord_decide import MOST_RATIONALE
from health.markup import Html, join, tag
from recall.cli.console import parts
from recall.cli.console.asked import Asked, Goto, Page
from recall.cli.console.remembered import remembered
from recall.cli.console.signing import Prepared, seal
from recall.cli.coord_reviewing import cleaned
from recall.cli.coord_work import named
from recall.cli.output import head
from transcript.errors import CoordError, KeyFault, RecallError

if TYPE_CHECKING:
    from consolidation.coord_decide import Shown
    from consolidation.coord_desk import CoordDesk
    from consolidation.coord_show import Line
    from recall.cli.app import App
    from transcript.proposals import Proposal

ENDLESS = 1_000_000  # columns: a page breaks its lines itself
MOST_ENDED = 50
SUBMITS = {
    "approve": "Approve at the terminal",
    "decline": "Decline at the terminal",
    "revise": "Propose it so instead",
}
LEVELS = {"proposed": "warn", "approved": "warn", "applied": "ok"}


def proposals(app: App, asked: Asked) -> Page:
    """Return what waits for a person or to be applied, and what became of the others, newest first."""
    from consolidation.coord_escape import shown
    from consolidation.coord_read import pending

    desk = _desk(app)
    _open_to_reader(app, desk)
    rows = pending(desk)
    ended = [one for one in desk.state().documents.values() if one.state not in ("proposed", "approved")]
    ended.sort(key=lambda one: one.seq, reverse=True)
    unread = [f"{shown(name)}: {code}" for name, code, _ in desk.documents().faults]
    return Page(
        "Proposals",
        join(
            _where_signed(app, asked),
            parts.section(
                "Waiting",
                parts.listing((_waiting(row, asked) for row in rows), empty="Nothing waits for a decision."),
            ),
            parts.section("Files that cannot be shown", _plain(unread), _commands("recall coord verify"))
            if unread
            else None,
            _memories(app),
            parts.section(
                "Decided",
                parts.listing((_ended(one, asked) for one in ended[:MOST_ENDED]), empty="Nothing was decided yet."),
                tag("p", f"and {len(ended) - MOST_ENDED:,} older ones", class_="soft")
                if len(ended) > MOST_ENDED
                else None,
            ),
        ),
    )


def proposal(app: App, asked: Asked) -> Page:
    """Return one proposal whole, in the order of the terminal, and below its last line what can be decided."""
    return _proposal(app, asked)


def prepare(app: App, asked: Asked) -> Page | Goto:
    """Let the terminal ask about a decision; the page that follows says so, or why not. Nothing is decided here."""
    desk = _desk(app)
    name = _whole(desk, asked.name)
    if name is None:
        return _nothing(asked)
    word = asked.form.get("word", "")
    if word not in SUBMITS:
        return parts.failure(400, "a decision is approve, decline or revise")
    try:
        asked.signing.prepare(
            app,
            Prepared(name, word, asked.form.get("why", ""), asked.form.get("seen", ""), _changed(asked, word)),
        )
    except RecallError as error:
        return _proposal(app, asked, said=f"not asked: {error}", status=409)
    return Goto(parts.address("/proposal", name))


def _proposal(app: App, asked: Asked, *, said: str = "", status: int = 200) -> Page:
    from consolidation.coord_decide import show
    from consolidation.coord_show import lines

    desk = _desk(app)
    _open_to_reader(app, desk)
    name = _whole(desk, asked.name)
    if name is None:
        return _nothing(asked)
    known = desk.state().documents.get(name)
    state = known.state if known is not None else "proposed"
    try:
        what = show(desk, name)
    except CoordError as error:
        return Page(
            f"Proposal {name[:8]}",
            join(_said(asked, name, said), _standing(known, state, asked), tag("p", str(error))),
            404,
        )
    return Page(
        f"Proposal {name[:8]}",
        join(
            _said(asked, name, said),
            _standing(known, state, asked),
            parts.section(
                "What would be signed" if state == "proposed" else "The proposal, whole",
                tag(
                    "p",
                    "Line by line what the terminal prints. What nobody sees, or what passes for something else, "
                    "stands there as an escape, ",
                    tag("span", "set apart", class_="escape"),
                    ".",
                    class_="soft",
                ),
                tag("div", *map(_line, lines(what, width=ENDLESS)), class_="proposal"),
            ),
            parts.section("Decide", _decide(app, asked, desk, what, state), id_="decide"),
        ),
        status,
    )


# -- reading ----------------------------------------------------------------------------------


def _desk(app: App) -> CoordDesk:
    """The proposals, to look at; unlike a command's it says nothing on the terminal."""
    from consolidation.coord_desk import CoordDesk

    return CoordDesk(app.workspace(), app.data, app.config.approval(), app.now())


def _open_to_reader(app: App, desk: CoordDesk) -> None:
    from recall.cli.reading import door

    door(app, desk.workspace).refuse_record("the coordination memory")


def _whole(desk: CoordDesk, name: str) -> str | None:
    try:
        return named(desk, name)
    except CoordError:
        return None


def _nothing(asked: Asked) -> Page:
    return parts.failure(404, f"no proposal has the id {head(asked.name, 40)}")


# -- what is shown ----------------------------------------------------------------------------


def _waiting(row: dict[str, Any], asked: Asked) -> Html:
    from consolidation.coord_escape import shown

    name = str(row["proposal_id"])
    about = " ".join(shown(str(row[key])) for key in ("operation", "subject", "target_ref") if row.get(key))
    marks = [parts.badge(f"waits for {row['waits_for']}", "warn")]
    if row.get("edited"):
        marks.append(parts.badge("its file was edited", "fail"))
    return parts.entry(
        parts.link(name[:8], parts.address("/proposal", name)),
        about,
        *marks,
        parts.when(str(row["created_at"]), asked.now),
        below=tag("div", shown(head(str(row["summary"]), 400)), class_="words"),
    )


def _ended(known: Proposal, asked: Asked) -> Html:
    from consolidation.coord_escape import shown

    if known.erased:
        return parts.entry(known.id[:8], parts.badge("erased"), parts.when(known.ts, asked.now))
    return parts.entry(
        parts.link(known.id[:8], parts.address("/proposal", known.id)),
        parts.badge(known.state.replace("_", " "), LEVELS.get(known.state, "")),
        parts.when(known.ts, asked.now),
        below=tag("div", shown(head(str(known.document["action"]["summary"]), 400)), class_="words"),
    )


def _standing(known: Proposal | None, state: str, asked: Asked) -> Html:
    from consolidation.coord_escape import shown

    decision = known.decision if known is not None else None
    made = decision or {}
    return parts.facts(
        {
            "state": parts.badge(state.replace("_", " "), LEVELS.get(state, "")),
            "proposed": parts.when(known.ts, asked.now) if known is not None else "not in the record yet",
            "by": shown(known.by) if known is not None else None,
            "decided": parts.when(str(made["timestamp"]), asked.now) if made else None,
            "decided by": shown(str(made.get("actor", ""))) if made else None,
            "why": shown(str(made.get("rationale", ""))) if made else None,
        }
    )


def _line(line: Line) -> Html:
    """One line of the terminal: its number and name, and its words, which can reach neither over the other."""
    name = line.gutter.rstrip(" │")
    before = tag("span", name, tag("span", line.gutter.removeprefix(name), class_="rule"), class_="gutter")
    return tag(
        "div",
        before if line.gutter else None,
        tag("bdi", *(_piece(one.text, one.kind) for one in line.segments), class_="value"),
        class_=f"line {line.style}",
    )


def _piece(text: str, kind: str) -> Html:
    return tag("span", text, class_="escape") if kind != "plain" else join(text)


def _memories(app: App) -> Html | None:
    """Candidates that wait for a person: they are decided on by other commands."""
    from recall.cli.memory_proposal import waiting
    from recall.cli.reading import door

    workspace = app.workspace()
    exit_ = door(app, workspace)
    held = remembered(app).state
    found = [one for name, (one, _) in waiting(workspace, held).items() if exit_.lets_body(name, one.body())]
    if not found:
        return None
    return parts.section(
        "Memories that wait",
        parts.listing(
            (
                parts.entry(
                    parts.link(one.id[:10], parts.address("/memory", one.id)),
                    parts.badge(one.memory_type.replace("_", " ")),
                    below=tag("div", head(one.text, 400), class_="words"),
                )
                for one in found
            ),
            empty="",
        ),
    )


# -- the decision -----------------------------------------------------------------------------


def _where_signed(app: App, asked: Asked) -> Html:
    refusal = asked.signing.refusal(app)
    if refusal:
        return tag("p", f"Nothing can be signed from these pages ({refusal}). ", _commands("recall coord review"))
    return tag(
        "p", "A decision is prepared here and signed at the terminal where the console was started.", class_="soft"
    )


def _said(asked: Asked, name: str, said: str) -> Html | None:
    """What the terminal asks about this proposal now, or what came of the last decision that was prepared here."""
    now = asked.signing.asked
    if now is not None and now.proposal == name:
        return tag(
            "p",
            f"To {now.word}: the terminal shows this proposal and asks for the first digits of the action's hash. "
            "Answer there; Enter alone decides nothing. ",
            parts.link("See what came of it", parts.address("/proposal", name)),
            class_="outcome",
            role="status",
        )
    told = said or asked.signing.outcome(name)
    return tag("p", told, class_="outcome", role="status") if told else None


def _decide(app: App, asked: Asked, desk: CoordDesk, what: Shown, state: str) -> Html:
    name, now = what.document.id, asked.signing.asked
    if state not in ("proposed", "approved"):
        return tag("p", f"It is {state.replace('_', ' ')}: nothing is left to decide.")
    if now is not None and now.proposal == name:
        return tag("p", "The terminal asks about it.")
    refusal = asked.signing.refusal(app) or _key_fault(desk)
    if refusal:
        command = f"recall coord {'review' if state == 'proposed' else 'apply'} {name[:8]}"
        return tag("p", f"Nothing can be signed from this page ({refusal}). ", _commands(command))
    seen = tag("input", type_="hidden", name_="seen", value=seal(what))
    forms = [_form(asked, name, word, seen) for word in ("approve", "decline") if state == "proposed"]
    applies = tag("p", "It is approved; this applies it: ", _commands(f"recall coord apply {name[:8]}"))
    follows = None if state == "proposed" else applies
    return join(follows, tag("div", *forms, class_="decisions"), _revise(asked, what, seen))


def _form(asked: Asked, name: str, word: str, seen: Html) -> Html:
    return parts.form(
        asked,
        parts.address("/proposal", name),
        seen,
        tag("input", type_="hidden", name_="word", value=word),
        _why(word),
        submit=SUBMITS[word],
    )


def _why(word: str) -> Html:
    return tag(
        "label",
        f"Why {word}? ",
        tag("input", type_="text", name_="why", required=True, maxlength=MOST_RATIONALE, autocomplete="off"),
    )


def _revise(asked: Asked, what: Shown, seen: Html) -> Html:
    action = what.document.action
    refs = "\n".join(map(str, action["evidence_refs"]))
    return parts.folded(
        "Propose something else instead",
        tag("p", "A new proposal is written and this one is ended; neither is approved by that.", class_="soft"),
        parts.form(
            asked,
            parts.address("/proposal", what.document.id),
            seen,
            tag("input", type_="hidden", name_="word", value="revise"),
            tag("label", "Summary ", _area("summary", cleaned(str(action["summary"])), 5)),
            tag("label", "Evidence, one reference a line ", _area("evidence", cleaned(refs), 3)),
            _why("revise"),
            submit=SUBMITS["revise"],
        ),
    )


def _area(name: str, text: str, rows: int) -> Html:
    # The first line end behind <textarea> is not part of its text.
    return tag("textarea", f"\n{text}", name_=name, rows=rows, spellcheck="false")


def _changed(asked: Asked, word: str) -> dict[str, Any]:
    if word != "revise":
        return {}
    summary = asked.form.get("summary", "").replace("\r\n", "\n")  # a form's line ends are two characters
    refs = [line.strip() for line in asked.form.get("evidence", "").splitlines()]
    return {"summary": cleaned(summary), "evidence_refs": list(dict.fromkeys(filter(None, refs)))}


def _key_fault(desk: CoordDesk) -> str:
    try:
        desk.keys.current()
    except KeyFault as fault:
        return str(fault)
    return ""


def _commands(*lines: str) -> Html:
    return join(*(tag("code", line) for line in lines))


def _plain(rows: Iterable[str]) -> Html:
    return tag("ul", *(tag("li", row) for row in rows))
