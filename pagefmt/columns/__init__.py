"""The fast decoder: all messages of a page at once, as Arrow columns (design: lock-step over fields, not over records).

Import ``pagefmt.columns.page`` for the work; this file imports nothing heavy.
"""

import os
import sys

# As fast as Arrow's usual allocator, and 20 to 100 MiB less at the peak, which with glibc's grows with the directory.
# Arrow's wheels for Linux have it.
if sys.platform == "linux":
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
