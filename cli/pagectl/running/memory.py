"""How memory that is freed is kept."""

from __future__ import annotations

import sys
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of glibc's mallopt
_MOST: Final = 32 << 20  # bytes; glibc takes no larger threshold for single blocks
_KEPT: Final = 256 << 20


def keep_freed_memory() -> None:
    """Let glibc keep blocks that are freed, for a command that makes arrays of the same sizes again and again.

    By default each large array is mapped anew, by glibc as by Arrow's own allocators, and the kernel clears its pages:
    a third of the processor time of commands that write as much as they read. So Arrow allocates by glibc, too. Other
    C libraries are left as they are.
    """
    if sys.platform != "linux":
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        import pyarrow as pa

        pa.set_memory_pool(pa.system_memory_pool())
        mallopt(_MMAP_THRESHOLD, _MOST)
        mallopt(_TRIM_THRESHOLD, _KEPT)
