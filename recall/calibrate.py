"""Fits the gate's thresholds to a store: the level that prompts known to be unrelated to it do not reach.

Half of a bank of prompts about everyday life and trades far from software, in a dozen languages (`unrelated.txt`), sets
the threshold, the other half checks it; the store's own later prompts, each asked at its own time in its own session,
say what the threshold leaves open.
Deterministic: the same index and settings give the same thresholds. Nothing is written but the calibration's file.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from indexer.reader import Reader
from indexer.rows import IndexMeta
from indexer.sample import AskedPrompt, newest_prompts
from indexer.store import Store
from recall import calibration
from recall.calibration import Calibration
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from recall.turn import CountTokens, Vectors
from transcript.event import stamp
from transcript.telling import counted

KEPT_OUT = 0.95  # share of the unrelated prompts of the fitting half that stay below the threshold
OWN_PROMPTS = 60
LEAST_PASSAGES = 500  # below, best scores are too few words' doing to say anything
LEAST_OWN = 10
LEAST_SEPARATION = 0.7  # chance that an own prompt scores above an unrelated one
LEAST_THRESHOLD = {"vectors": 0.2, "words": 0.1}  # a store that no bank touches is still met by chance words
GROWTH = 2  # fitted anew when the store has grown this many times

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of searching: gate scores of unrelated and own prompts, and what the threshold does to them."""

    name: str
    unrelated: tuple[float, ...]  # the fitting half, then the checking half
    own: tuple[float, ...]
    in_use: float
    threshold: float | None  # None: no safe one
    why: str = ""  # there is none

    @property
    def checked(self) -> tuple[float, ...]:
        """Scores of the half that did not set the threshold."""
        return self.unrelated[-(-len(self.unrelated) // 2) :]

    def silent(self, threshold: float) -> float:
        """Share of the checking half that a threshold silences."""
        return _share(score < threshold for score in self.checked)

    def answered(self, threshold: float) -> float:
        """Share of the own prompts for which it opens."""
        return _share(score >= threshold for score in self.own)

    @property
    def separation(self) -> float:
        """Chance that an own prompt scores above an unrelated one; 1/2 is none."""
        pairs = [(a > b) + 0.5 * (a == b) for a in self.own for b in self.unrelated]
        return sum(pairs) / len(pairs) if pairs else 0.5


@dataclass(frozen=True, slots=True)
class Fit:
    """What was measured, for both ways of searching."""

    arms: tuple[Arm, ...]
    passages: int
    vectors: int
    model: str
    fit_for: str

    @property
    def is_safe(self) -> bool:
        """Whether every way of searching has a threshold."""
        return all(arm.threshold is not None for arm in self.arms)

    def calibration(self, now: datetime) -> Calibration:
        """What is kept of it."""
        found = {arm.name: arm.threshold for arm in self.arms}
        return Calibration(
            found.get("vectors"), found.get("words"), self.passages, self.vectors, self.model, self.fit_for, stamp(now)
        )

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        held = asdict(self)
        for arm, made in zip(self.arms, held["arms"], strict=True):
            level = arm.in_use if arm.threshold is None else arm.threshold
            made |= {
                "separation": round(arm.separation, 4),
                "silent": arm.silent(level),
                "answered": arm.answered(level),
            }
        return {**held, "safe": self.is_safe}


def unrelated() -> list[str]:
    """The bank of unrelated prompts: every second one fits, the others check."""
    lines = files("recall").joinpath("unrelated.txt").read_text(encoding="utf-8").splitlines()
    prompts = [line for line in lines if line.strip()]
    return prompts[::2] + prompts[1::2]


def is_due(held: Calibration | None, meta: IndexMeta, settings: Settings) -> bool:
    """Whether a store is to be fitted anew: never yet, grown to twice its size, other settings, vectors or model."""
    if meta.n_chunks < LEAST_PASSAGES:
        return False
    if held is None or held.fit_for != calibration.fit_for(settings) or held.model != meta.model:
        return True
    return meta.n_chunks >= GROWTH * held.passages or meta.n_vectors >= GROWTH * max(1, held.vectors)


def measure(
    store: Store,
    vectors: Vectors | None,
    settings: Settings,
    *,
    now: datetime,
    count_tokens: CountTokens,
    progress: Progress | None = None,
) -> Fit:
    """Ask every prompt by words, and with vectors where there are any."""
    bank, own, meta = unrelated(), newest_prompts(store, OWN_PROMPTS), store.meta()
    ways: list[tuple[str, Vectors | None]] = [("words", None)]
    if vectors is not None and meta.n_vectors and not store.has_few_vectors():  # else a turn's gate is that of words
        ways.append(("vectors", vectors))
    prompts: list[str | AskedPrompt] = [*bank, *own]
    total, done = len(ways) * len(prompts), 0
    arms = []
    for name, search in ways:
        scores: list[float] = []
        for prompt in prompts:
            scores.append(_score(prompt, store, search, settings, now=now, count_tokens=count_tokens))
            done += 1
            if progress is not None:
                progress(done, total)
        held = settings.gate.threshold if name == "vectors" else settings.gate.threshold_words
        arms.append(fitted(name, scores[: len(bank)], [s for s in scores[len(bank) :] if s > 0], held, meta.n_chunks))
    return Fit(tuple(arms), meta.n_chunks, meta.n_vectors, meta.model, calibration.fit_for(settings))


def fitted(name: str, unrelated: Sequence[float], own: Sequence[float], in_use: float, passages: int) -> Arm:
    """Set the threshold just above the share of the fitting half that is kept out; none where that is not safe."""
    half = sorted(unrelated[: -(-len(unrelated) // 2)])
    arm = Arm(name, tuple(unrelated), tuple(own), in_use, None)
    if passages < LEAST_PASSAGES:
        return _unsafe(arm, f"only {counted(passages, 'passage')}; at least {LEAST_PASSAGES:,} are needed")
    if len(own) < LEAST_OWN:
        return _unsafe(arm, f"of the project's own prompts only {len(own)} find anything; {LEAST_OWN} are needed")
    if arm.separation < LEAST_SEPARATION:
        return _unsafe(arm, "the project's own prompts score no higher than unrelated ones")
    place = min(len(half) - 1, int(KEPT_OUT * len(half)))
    return Arm(name, arm.unrelated, arm.own, in_use, max(LEAST_THRESHOLD[name], round(half[place] + 0.005, 2)))


def _unsafe(arm: Arm, why: str) -> Arm:
    return Arm(arm.name, arm.unrelated, arm.own, arm.in_use, None, why)


def _score(
    prompt: str | AskedPrompt,
    reader: Reader,
    vectors: Vectors | None,
    settings: Settings,
    *,
    now: datetime,
    count_tokens: CountTokens,
) -> float:
    if isinstance(prompt, str):
        query, at = Query(prompt=prompt), now
    else:
        at = datetime.fromtimestamp(prompt.said, UTC)
        query = Query(prompt=prompt.text, session=prompt.session, as_of=at)
    return round(recall(query, reader, vectors, settings, now=at, count_tokens=count_tokens).gate_score, 4)


def _share(claims: Any) -> float:
    held = list(claims)
    return sum(held) / len(held) if held else 0.0
