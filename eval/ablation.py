"""Takes out one step at a time: every term of the score and every step of retrieval and selection.

Each row names a setting and the value that switches the step off; the run is otherwise the shipped one. A test fails
where a retrieval setting is neither in a row nor among those that switch nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from recall.settings import Settings


@dataclass(frozen=True, slots=True)
class Step:
    """A step that can be taken out: its name, and the settings that do so."""

    name: str
    off: tuple[tuple[str, Any], ...]


def _step(name: str, **off: Any) -> Step:
    return Step(name, tuple((key.replace("__", "."), value) for key, value in off.items()))


STEPS: tuple[Step, ...] = (
    _step("term E, experience", weights__beta=0.0),
    _step("term T, recency", weights__gamma=0.0),
    _step("term A, authority", weights__delta=0.0),
    _step("term Q, applicability", weights__epsilon=0.0),
    _step("term K, risk", weights__lambda_=0.0),
    _step("vectors", retrieval__dense_weight=0.0),
    _step("classes: narration, tools, summaries as equals", retrieval__narration_weight=1.0,
          retrieval__tool_weight=1.0, retrieval__summary_weight=1.0, retrieval__worker_weight=1.0,
          retrieval__reasoning_weight=1.0),
    _step("announcements demoted", retrieval__announcement=1.0),
    _step("questions demoted", retrieval__question=1.0),
    _step("pasted text demoted", retrieval__pasted=1.0),
    _step("prompt to its answer", retrieval__link=0.0),
    _step("session", retrieval__session=0.0),
    _step("neighbours in a talk", retrieval__neighbour=0.0),
    _step("question to the turn after it, in a talk", retrieval__asked=0.0),
    _step("speaker named, in a talk", retrieval__speaker=0.0),
    _step("session in a talk", retrieval__talk_session=0.0),
    _step("words side by side", retrieval__phrase=0.0),
    _step("place in the session", retrieval__place=0.0),
    _step("other languages in English too", retrieval__gloss=False),
    _step("nearest spelling of an unknown word", retrieval__respell=False),
    _step("identifiers and paths in parts", retrieval__parts=False),
    _step("time words", retrieval__when=0.0),
    _step("standing wishes", retrieval__wish=0.0),
    _step("prompt on the head line of its answer", budget__head_chars=0),
    _step("beginning of an answer", budget__opening_chars=0),
    _step("near copies collapsed", selection__near_copy=2.0),
    _step("diversity", selection__diversity=0.0),
    _step("corrections and replacements noted", selection__since=False),
    _step("memory and its source as one", selection__same_source=False),
    _step("newest first among equals", selection__newest_first=False),
)  # fmt: skip
PLAIN = Step(  # no step at all: words and vectors fused, in the order of their sum
    "plain fusion",
    tuple(pair for step in STEPS if step.name not in ("vectors", "near copies collapsed") for pair in step.off),
)
# Numbers of the scales and bounds: they switch nothing off.
NO_STEP = frozenset({"k", "arm", "lexical_limit", "vector_limit", "frequent_share", "rarest_terms", "words_half_at",
                     "prompt_weight", "final_weight", "memory_weight"})  # fmt: skip


def without(settings: Settings, step: Step) -> Settings:
    """Return the settings with one step taken out."""
    for key, value in step.off:
        section, _, name = key.partition(".")
        settings = replace(settings, **{section: replace(getattr(settings, section), **{name: value})})
    return settings


def variants(settings: Settings) -> dict[str, Settings]:
    """Return the settings with all steps taken out, and with each of them."""
    return {PLAIN.name: without(settings, PLAIN)} | {f"without {s.name}": without(settings, s) for s in STEPS}


def uncovered() -> Iterator[str]:
    """Yield retrieval settings that no step switches off and that are not known to switch nothing."""
    covered = {key for step in STEPS for key, _ in step.off}
    for item in fields(Settings().retrieval):
        if f"retrieval.{item.name}" not in covered and item.name not in NO_STEP:
            yield f"retrieval.{item.name}"
