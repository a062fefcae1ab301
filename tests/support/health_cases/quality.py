"""Cases of health.signals.quality."""

from support.health_cases import DAY, NOW, Case, well


def run(change: float | None, high: float):
    """Facts with an evaluation of yesterday, by so much other than the one of last week."""
    return well(
        "quality",
        at=NOW - DAY,
        mrr=0.612,
        low=0.55,
        high=0.67,
        questions=140,
        change=change,
        change_low=(change or 0.0) - 0.03,
        change_high=high,
        shared=130,
        against=NOW - 8 * DAY,
    )


CASES = {
    "recall_quality": Case(
        run(-0.04, -0.01),
        run(-0.10, -0.07),
        (
            "61% of the best rank, over 140 questions, 24.0 h ago",
            "4.0 points lower than before (1.0 to 7.0, 130 asked twice)",
            "10.0 points lower than before (7.0 to 13.0, 130 asked twice)",
        ),
        healthy=run(-0.04, 0.001),
    ),
}
