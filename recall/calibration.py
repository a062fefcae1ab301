"""The gate's thresholds as they were fitted to one store: read on every turn, written by `recall.calibrate`.

On the hook path: standard library only. The file lies beside the index and is derived from it. It counts only for the
settings and the model it was fitted with; where it is missing, broken or of other settings, the defaults hold.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from recall.settings import Settings
from transcript.paths import read_derived, write_atomic

FILE = "calibration.json"
VERSION = 2  # raised when the gate's score or the way a threshold is fitted changes


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted thresholds; None where none is safe or none could be measured."""

    threshold: float | None
    threshold_words: float | None
    passages: int  # of the index it was fitted on
    vectors: int
    model: str
    fit_for: str  # the settings it was fitted with
    made: str  # RFC 3339
    version: int = VERSION

    def layer(self) -> dict[str, float]:
        """Name of a setting -> fitted value."""
        found = {"gate.threshold": self.threshold, "gate.threshold_words": self.threshold_words}
        return {key: value for key, value in found.items() if value is not None}


def file(home: Path) -> Path:
    """Where a workspace keeps its calibration."""
    return home / FILE


def read(home: Path) -> Calibration | None:
    """The calibration of a workspace's folder; None where there is none that this version can read."""
    try:
        made = Calibration(**read_derived(file(home)))
    except TypeError:
        return None
    numbers = [n for n in (made.threshold, made.threshold_words) if n is not None]
    sound = made.version == VERSION and all(isinstance(n, int | float) and 0 <= n <= 10 for n in numbers)
    return made if sound else None


def write(home: Path, made: Calibration) -> None:
    """Replace the file at once, so that a reader sees the old or the new one."""
    write_atomic(file(home), json.dumps(asdict(made), sort_keys=True).encode("ascii") + b"\n", durable=False)


def fit_for(settings: Settings) -> str:
    """Twelve hex digits over what moves the gate's score: retrieval and gate, the thresholds left out."""
    gate = replace(settings.gate, threshold=0.0, threshold_words=0.0)
    text = json.dumps([asdict(settings.retrieval), asdict(gate)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
