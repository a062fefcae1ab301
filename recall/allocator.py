"""What a long-lived process asks of glibc's allocator, so that it holds what it uses and not the most it ever used.

Each turn is a thread of its own, and each thread may get an arena, which keeps the room of its largest turn. Elsewhere
(musl, macOS) these calls do not exist, and nothing is done.
"""

import contextlib
import ctypes

_M_ARENA_MAX = -8  # malloc.h
ARENAS = 2


def restrain() -> None:
    """Let all threads share a few arenas; to be called before there are any."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give freed memory back to the system; one to two milliseconds."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
