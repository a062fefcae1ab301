"""`recall review`: have somebody else try to refute a candidate."""

from __future__ import annotations

from dataclasses import asdict, replace

import click

from recall.cli.app import App, pass_app
from recall.cli.output import emit, say
from transcript.errors import ConfigError, PointerError


@click.group()
def command() -> None:
    """Have a candidate for memory reviewed independently.

    By somebody other than its writer.

    \b
        recall review run abcdefghij
    """


@command.command()
@click.argument("candidate")
@click.option("--reviewer", metavar="COMMAND", help="The program that reviews; by default what [reviewer] sets.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
@pass_app
def run(app: App, ctx: click.Context, candidate: str, reviewer: str | None, as_json: bool) -> None:
    """Verify CANDIDATE, ask the reviewer, and print what was found.

    Decides nothing and writes nothing: 'recall memory accept' and 'decline' do. Exits 1 when it is refuted.

    \b
        recall review run abcdefghij --reviewer "python review.py"
    """
    from consolidation.candidates import candidate_of
    from consolidation.neighbours import touched
    from consolidation.review import review
    from consolidation.review_protocol import SEVERITIES
    from consolidation.reviewers import make
    from consolidation.sources import read
    from consolidation.verify import verify
    from transcript.memories import fold_memories

    workspace = app.workspace()
    log, key = app.log(workspace), workspace.id_key()
    state = fold_memories(log)
    held = [one for name, one in state.candidates.items() if name.startswith(candidate.split("#")[0].lower())]
    if len(held) != 1:
        what = "no candidate" if not held else "more than one candidate"
        raise PointerError(f"{what} is called {candidate}; 'recall memory list --proposals' shows them")
    settings = app.config.reviewer()
    if reviewer:
        settings = replace(settings, kind="command", command=reviewer)
    asked = make(settings, home=app.data)
    if asked is None:
        raise ConfigError("no reviewer is set; give --reviewer COMMAND or set reviewer.kind")
    one = candidate_of(held[0].body)
    near = touched(one, state, embedder=app.embedder())
    verdicts = [verify(one, log, near, key=key, links=state.links)]
    verdicts += review(one, verdicts[0], near, read(log, one.sources, key), asked, settings, past=held[0].verdicts)
    if as_json:
        emit({"candidate": one.id, "verdicts": [asdict(verdict) for verdict in verdicts]})
    else:
        for verdict in verdicts:
            who = "computed checks" if verdict.round == 0 else f"{verdict.reviewer[1]}, round {verdict.round}"
            say(f"{who}: {verdict.verdict}{f' ({verdict.note})' if verdict.note else ''}")
            for conflict in verdict.conflicts:
                say(f"  conflicts with {conflict.memory[:10]} ({conflict.how}: {conflict.detail})")
            for finding in sorted(verdict.findings, key=lambda f: -SEVERITIES.index(f.severity)):
                say(f"  {finding.severity:<8} {finding.evidence_pointer} {finding.text}")
        if len(verdicts) == 1:
            say("the reviewer was not asked: there is nothing left to refute, or it may not see this")
    ctx.exit(1 if verdicts[-1].verdict == "refuted" else 0)
