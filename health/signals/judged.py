"""Measures that somebody judges: whether two raters agreed on a pilot before its figures were believed."""

from health.facts import JudgedFacts, JudgedMeasure
from health.known import Area, Known, one
from health.signal import Level, Signal
from transcript.telling import counted

LEAST_KAPPA = 0.6
NAME_CHARS = 40


def uncalibrated_measures(j: JudgedFacts) -> Signal:
    """Return how many judged measures in use have no agreement, or too little; the worst is named with its kappa."""
    wanting = sorted((one for one in j.measures if _level(one)), key=lambda one: (-_level(one), one.kappa or 0.0))
    text = f"{counted(len(j.measures), 'judged measure')} in use"
    if wanting:
        text = f"{len(wanting):,} of {counted(len(j.measures), 'judged measure')} not calibrated: {_short(wanting[0])}"
    return Signal(
        id="uncalibrated_measures",
        value={"in_use": len(j.measures), "uncalibrated": len(wanting)},
        unit="count",
        level=max(map(_level, j.measures), default=Level.OK),
        text=text,
        meaning="What is judged says something only where two raters who do not see each other's ratings agree.",
        action="have two raters judge a pilot, then run 'recall eval agreement FILE --measure NAME'; where they agree"
        " too little, mend what they were told to judge by"
        if wanting
        else "",
        details=tuple(map(_whole, wanting or j.measures)),
    )


def _level(measure: JudgedMeasure) -> Level:
    if measure.kappa is None:
        return Level.WARN
    return Level.FAIL if measure.kappa < 0 else Level.WARN if measure.kappa < LEAST_KAPPA else Level.OK


def _short(measure: JudgedMeasure) -> str:
    name = measure.name[:NAME_CHARS]
    if measure.kappa is None:
        return f"{name}, no agreement is known"
    favour = f", in favour of {measure.favours}" if measure.favours else ""
    return f"{name}, kappa {measure.kappa:.2f}{favour}"


def _whole(measure: JudgedMeasure) -> str:
    if measure.kappa is None:
        return _short(measure)
    agreed = f"raw {measure.raw:.0%}, by chance {measure.chance:.0%}, of {counted(measure.n, 'item')}"
    return f"{measure.name[:NAME_CHARS]}: kappa {measure.kappa:.2f} ({agreed}); {measure.direction}"


KNOWN = (
    Known(
        "uncalibrated_measures",
        one(lambda f: uncalibrated_measures(f.judged)),
        Area.RECALL,
        "<workspace>/run/agreement.jsonl",
        warn="no agreement, or kappa < 0.6",
        fail="kappa < 0",
        remedy="eval agreement",
        rows="LCA-D-10H, LCA-10-02",
    ),
)
