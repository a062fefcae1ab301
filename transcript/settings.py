"""What is captured: settings that the capture and the configuration share. On the hook path: standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """What of a harness's transcripts is kept."""

    native: bool = True  # the source bytes as they were read: the harness deletes its own after 30 days
    reasoning: bool = False  # exposed thinking, as events
