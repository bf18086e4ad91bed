"""What the C library does with memory that is freed, for commands that read much."""

from __future__ import annotations

from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
LARGEST: Final = 64 << 20
KEPT: Final = 256 << 20


def keep_freed_memory() -> None:
    """Blocks of up to ``LARGEST`` bytes stay with the process when they are freed (glibc; elsewhere nothing changes).

    Reading takes and frees blocks of the same sizes for every piece of a page. Given back to the system each time, they
    cost a page fault for every 4 KiB: a sixth of the processor time.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, LARGEST)
        mallopt(_TRIM_THRESHOLD, KEPT)
