"""Q, applicability: does the item belong to the work at hand."""

FACETS = {"project": 0.30, "role": 0.25, "channel": 0.15, "task": 0.10, "command": 0.10, "skill": 0.10}
UNKNOWN = 0.5


def applicability(matches: tuple[tuple[str, bool], ...]) -> float:
    """Weigh which facets of the turn the item shares; a facet that either side leaves open counts half.

    Formula: sum of w(f) * v(f) over project, role, channel, task, command, skill (w .30 .25 .15 .10 .10 .10);
             v = 1 where item and turn agree, 0 where they differ, 1/2 where nothing is known
    Range:   [0, 1]; higher is better; 1/2 when nothing is known.
    Source:  LCA 5.2.5.
    """
    known = dict(matches)
    strange = sorted(set(known) - set(FACETS))
    if strange:
        raise ValueError(f"{', '.join(strange)}: no such facet; known: {', '.join(FACETS)}")
    return sum(
        weight * (UNKNOWN if facet not in known else 1.0 if known[facet] else 0.0) for facet, weight in FACETS.items()
    )
