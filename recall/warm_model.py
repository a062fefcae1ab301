"""The embedding model of the service: loaded behind, kept warm, never waited for longer than a turn allows.

One thread owns the model. A turn hands it a text and waits for its share of time; while the model still loads, has
failed or is busy with a text whose turn has gone, the answer is the reason why this turn is one of words.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from indexer.embedder import Embedder
from transcript.errors import EmbedderUnavailable

Vector = NDArray[np.float32]


@dataclass(slots=True)
class Job:
    """A text on its way through the model."""

    text: str
    done: threading.Event = field(default_factory=threading.Event)
    vector: Vector | None = None
    reason: str = ""

    def wait(self, seconds: float) -> tuple[Vector | None, str]:
        """Return (vector, ""), or (None, reason) when there is none within the time."""
        if not self.done.wait(max(seconds, 0.0)):
            return None, "model_slow"
        return self.vector, self.reason


class WarmModel:
    """A model that answers within a given time, or says why not."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._busy_since = 0.0
        self.ready = threading.Event()
        self.embedder: Embedder | None = None
        self.failure = ""
        threading.Thread(target=self._run, name="model", daemon=True).start()

    @property
    def is_busy(self) -> bool:
        """Whether the model is at work on a text, perhaps one whose turn has gone."""
        return bool(self._busy_since)

    def begin(self, text: str) -> Job:
        """Hand a text to the model and return at once; `Job.wait` gives what came of it."""
        job = Job(text)
        job.reason = "model_missing" if self.failure else "" if self.ready.is_set() else "model_loading"
        if job.reason:
            job.done.set()
        else:
            self._jobs.put(job)
        return job

    def encode(self, text: str, *, seconds: float) -> tuple[Vector | None, str]:
        """Return (vector, ""), or (None, reason) when there is none within the time."""
        if self._busy_since and time.monotonic() - self._busy_since > seconds:
            return None, "model_busy"
        return self.begin(text).wait(seconds)

    def _run(self) -> None:
        try:
            embedder = self._load()
            embedder.encode(["warm up"])
        except EmbedderUnavailable as error:
            self.failure = str(error)
            return
        except Exception as error:  # the boundary of the hook: whatever a model's library raises, words go on
            self.failure = f"{type(error).__name__}: {error}"
            return
        self.embedder = embedder
        self.ready.set()
        while True:
            job = self._jobs.get()
            self._busy_since = time.monotonic()
            try:
                job.vector = np.asarray(embedder.encode([job.text]))[0]
            except Exception as error:  # the same: one text that fails is one turn of words
                job.reason = f"model_failed:{type(error).__name__}"
            self._busy_since = 0.0
            job.done.set()
