"""What every `recall coord` command tells: one object with the same first names, or a text with the same last lines."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click

from consolidation.coord_schema import SCHEMA_VERSION
from recall.cli.app import App
from recall.cli.output import emit, note, one_line, say, visible
from transcript.errors import CoordError, RecallError


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did.

    `id` is that of the proposal or of the event, None where it is about none; `state` is the proposal's. `text` are
    the lines for a reader, `more` what the JSON object says besides. `code` is the exit code.
    """

    id: str | None = None
    state: str | None = None
    evidence_refs: Sequence[str] = ()
    canonical_changed: bool = False
    human_decision_required: bool = False
    text: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    code: int = 0


def report(mode: str, made: Report, *, as_json: bool) -> None:
    """Print what a run did."""
    told = {
        "mode": mode,
        "schema_version": SCHEMA_VERSION,
        "id": made.id,
        "state": made.state,
        "evidence_refs": list(made.evidence_refs),
        "canonical_changed": made.canonical_changed,
        "human_decision_required": made.human_decision_required,
    }
    if as_json:
        emit({**told, **made.more})
        return
    if made.text:
        say(visible(made.text))  # words that nobody has approved, too
    say(f"mode: {mode}")
    say(f"id: {one_line(made.id or 'none')}")
    say(f"state: {made.state or 'none'}")
    say(f"evidence refs: {', '.join(made.evidence_refs) or 'none'}")
    say(f"canonical memory changed: {_yes(made.canonical_changed)}")
    say(f"human decision still required: {_yes(made.human_decision_required)}")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def reports(mode: str) -> Callable[[Callable[..., Report]], Callable[..., None]]:
    """Make a function that returns a Report a command with `--json` that prints it and ends with its code.

    A refusal is reported as well, with exit code 1; the argument `name`, where there is one, is the id it is about.
    """

    def around(function: Callable[..., Report]) -> Callable[..., None]:
        @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
        @click.pass_context
        @functools.wraps(function)
        def run(ctx: click.Context, /, *args: Any, as_json: bool, **options: Any) -> None:
            try:
                made = function(*args, **options)
            except RecallError as error:
                made = refused(error, args[0], options.get("name"))
                if "name" in options and options["name"] is None:  # about every proposal
                    made = replace(made, human_decision_required=_anything_waits(args[0]))
                if not as_json:
                    note(f"recall: {one_line(str(error))}")
            report(mode, made, as_json=as_json)
            if made.code:
                ctx.exit(made.code)

        return run

    return around


def refused(error: RecallError, app: App, about: object) -> Report:
    """Return the report of something that was not done; `about` is what was given for a proposal's or an item's id."""
    code, where = (error.code, error.field) if isinstance(error, CoordError) else (type(error).__name__, "")
    name = about if isinstance(about, str) else None
    state: str | None = None
    refs: Sequence[str] = ()
    with contextlib.suppress(RecallError):
        if name is not None:
            name, state, refs = _standing(app, name)
    return Report(
        id=name,
        state=state,
        evidence_refs=refs,
        human_decision_required=state == "proposed",
        more={"code": code, "field": where, "message": str(error)},
        code=1,
    )


def _anything_waits(app: App) -> bool:
    """Whether any proposal waits for a person."""
    from consolidation.coord_read import pending
    from recall.cli.coord_work import desk_of

    with contextlib.suppress(RecallError):
        return any(row["state"] == "proposed" for row in pending(desk_of(app, writes=False)))
    return False


def _standing(app: App, about: str) -> tuple[str, str, tuple[str, ...]]:
    """The whole id, the state and the evidence of a proposal as they stand."""
    from recall.cli.coord_work import desk_of, named

    desk = desk_of(app, writes=False)
    name = named(desk, about)
    known, held = desk.state().documents.get(name), desk.documents().by_id.get(name)
    state = known.state if known is not None else "proposed"
    return name, state, held.document.evidence_refs if held is not None else ()
