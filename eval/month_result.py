"""What a replayed stretch of work says of E and T, in the form of every set: figures, and differences by turn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.lineup import OURS
from eval.machine import machine
from eval.measures import COMPUTED
from eval.month import Asked, Shown
from eval.result import Result, against, engine_of
from recall.settings import Settings, settings_hash
from transcript.canonical import canonical, sha256_hex

SAMPLES = 2000
SET = "month"


@dataclass(frozen=True, slots=True)
class _Measure:
    meaning: str
    of: Callable[[Shown, Shown], float | None]  # of what was shown, and of what the shipped settings showed


MEASURES: Mapping[str, _Measure] = {
    "share used": _Measure("share of the shown items that the real answer used", lambda one, _: one.share),
    "used a turn": _Measure("items that the real answer used, for 100 turns", lambda one, _: float(one.used)),
    "used MRR": _Measure("reciprocal place of the first item that was used, where one was", lambda one, _: one.first),
    "spoke": _Measure("something was shown", lambda one, _: float(bool(one.events))),
    "shown otherwise": _Measure(
        "other items, or in another order, than with the shipped settings",
        lambda one, ours: float(one.events != ours.events),
    ),
}


def as_result(
    asked: Sequence[Asked],
    found: Mapping[str, Sequence[Shown]],
    settings: Settings,
    *,
    changed: Mapping[str, Any],
    command: str,
    model: str,
    chunks: int,
    vectors: int,
) -> Result:
    """Return the result of a replay; `found` holds what the shipped settings showed under their usual name."""
    ours = found[OURS]
    turns = [one.event for one in asked]
    engines = {
        name: engine_of(
            {
                measure: {one.prompt: about.of(one, other) for one, other in zip(made, ours, strict=True)}
                for measure, about in MEASURES.items()
            },
            {"all": turns},
            [one.tokens for one in made],
            samples=SAMPLES,
        )
        for name, made in found.items()
    }
    return Result(
        SET,
        command,
        sha256_hex(canonical(turns)),
        settings_hash(settings),
        dict(changed),
        model,
        machine(),
        len(asked),
        chunks,
        vectors,
        {name: {"meaning": about.meaning, "kind": COMPUTED} for name, about in MEASURES.items()},
        engines,
        against(engines, samples=SAMPLES),
        "what the answers of the time say of the shown items, computed; they were given without seeing them",
    )
