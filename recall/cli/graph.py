"""`recall graph`: what is known of a thing, and when it held."""

from __future__ import annotations

from dataclasses import asdict

import click

from recall.cli.app import App, choose, demo_option, moment, pass_app
from recall.cli.output import emit, note, say
from recall.cli.reading import door

NEAREST = 5


@click.group()
def command() -> None:
    """Ask what is known of a thing.

    Statements and decisions with the time in which they hold.

    \b
        recall graph show "release workflow"
    """


@command.command()
@click.argument("entity")
@click.option("--as-of", metavar="DATE", help="Only what held at that time.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a statement.")
@demo_option
@pass_app
def show(app: App, entity: str, as_of: str | None, as_json: bool, demo: bool) -> None:
    """List what is known of ENTITY, newest first.

    With since when and until when it held. ENTITY is a name, or words that all stand in the statement. What took
    whose place is followed, and so are names that were replaced: what was decided under the old name is found by the
    new one.

    \b
        recall graph show "release workflow" --as-of 2026-05-01
    """
    from consolidation.graph import build, facts
    from indexer.replacements import looks_like_code
    from recall.replaced import listed
    from transcript.errors import IndexMissing
    from transcript.memories import fold_memories
    from transcript.projections.views import folded

    app = choose(app, demo)
    when = moment(as_of) if as_of else None
    log = app.log(app.workspace())
    try:
        with app.store(log.workspace) as store:
            replaced = [(one.old, one.new) for one in listed(store)]
    except IndexMissing:
        replaced = []
        note("no index yet: names that were replaced are not followed; 'recall index' makes it")
    exit_ = door(app, log.workspace)
    exit_.refuse_record("what is known of things")
    graph = build(exit_.state(fold_memories(log)), folded(log)[0]["decisions"], replaced)
    found = facts(graph, entity, when)
    for fact in found:
        if as_json:
            emit(asdict(fact))
            continue
        interval = f"[{fact.valid_from[:10]}, {fact.valid_to[:10]})"
        via = f" ({fact.via})" if fact.via else ""
        say(f"{interval:<24} {fact.kind:<15} {' '.join(fact.text.split())}  {fact.pointer}{via}")
    if not found and not as_json:
        things = [one for one in graph.entities.values() if looks_like_code(one.name)]
        known = sorted(things, key=lambda one: (-len(one.statements), one.name))[:NEAREST]
        names = f"; most is known of {', '.join(one.name for one in known)}" if known else ""
        note(f"nothing is known of {entity}{f' at {as_of}' if as_of else ''}{names}")
