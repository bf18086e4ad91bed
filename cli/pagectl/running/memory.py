"""How the C library keeps memory that is freed."""

from __future__ import annotations

import sys
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of glibc's mallopt
_MOST: Final = 32 << 20  # bytes; glibc takes no larger threshold for single blocks
_KEPT: Final = 256 << 20


def keep_freed_memory() -> None:
    """Let glibc keep blocks that are freed, for a command that makes arrays of the same sizes again and again.

    By default each large array is mapped anew, and the kernel clears its pages: a third of the processor time of
    commands that write as much as they read. Other C libraries are left as they are.
    """
    if sys.platform != "linux":
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MOST)
        mallopt(_TRIM_THRESHOLD, _KEPT)
