"""`recall eval freshness`: whether health names what it must."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from recall.cli.output import say
from transcript.telling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval.incidents import Replayed
    from health.signal import Signal


@click.command("freshness")
@click.option(
    "--all", "every", is_flag=True, help="Replay every known incident and silent fault, not these five alone."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, every: bool, as_json: bool) -> None:
    """Plant known faults and see whether health names each.

    Each is planted in a small made-up project of its own, in a temporary folder: a hook of an old version, a backfill
    that failed, an index of a newer schema, critical memories over the budget, copies in the index. Needs no model.
    Exit 0: each is named by the signal that must name it, with its figures, and the same project without them is well;
    1: not.

    \b
        recall eval freshness
    """
    from eval.incidents import FRESHNESS, INCIDENTS, false_alarms, replay_all
    from eval.silent_cases import SILENT

    replayed, alarms = replay_all((*INCIDENTS, *SILENT) if every else FRESHNESS), false_alarms()
    say(_json(replayed, alarms) if as_json else "\n".join(_lines(replayed, alarms)))
    ctx.exit(1 if alarms or any(one.faults for one in replayed) else 0)


def _lines(replayed: Sequence[Replayed], alarms: Sequence[Signal]) -> list[str]:
    """Return the result for people."""
    named = sum(not one.faults for one in replayed)
    lines = [f"{named} of {counted(len(replayed), 'incident')} named, {counted(len(alarms), 'false alarm')}"]
    for one in replayed:
        lines.append(f"{'missed' if one.faults else 'named '}  {one.title}")
        for signal in one.signals:
            lines.append(f"          {signal.level.name.lower()}  {signal.id}: {signal.text}")
            lines += [f"                {detail}" for detail in signal.details[:1]]
        lines += [f"          {fault}" for fault in one.faults]
    return lines + [f"false alarm  {signal.id}: {signal.text}" for signal in alarms]


def _json(replayed: Sequence[Replayed], alarms: Sequence[Signal]) -> str:
    return json.dumps(
        {
            "named": sum(not one.faults for one in replayed),
            "incidents": [{**asdict(one), "signals": [signal.to_dict() for signal in one.signals]} for one in replayed],
            "false_alarms": [signal.to_dict() for signal in alarms],
        }
    )
