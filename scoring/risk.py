"""K, risk: reasons to hold an item back that are no reasons to forbid it."""

RISKS = {
    "stale": 0.5,  # the thing it speaks of has changed since
    "conflict": 0.4,  # an open contradiction
    "outside_role": 0.6,  # outside the authority of the active role
    "abandoned": 0.3,  # stands on a branch of the conversation that was left
    "rewound": 0.3,  # was taken back by a rewind
    "external": 0.2,  # came from outside the conversation
    "superseded": 0.9,  # replaced; reaches the score only in a question about history
}


def risk(reasons: tuple[str, ...]) -> float:
    """Combine independent risks; what must not be disclosed is excluded by selection, never by this.

    Formula: 1 - product of (1 - k) over the reasons, k from the table above
    Range:   [0, 1]; 0 without a reason; the only term that is subtracted.
    Source:  LCA 5.2.6.
    """
    kept = 1.0
    for reason in sorted(set(reasons)):
        if reason not in RISKS:
            raise ValueError(f"{reason!r} is no known risk; known: {', '.join(sorted(RISKS))}")
        kept *= 1.0 - RISKS[reason]
    return 1.0 - kept
