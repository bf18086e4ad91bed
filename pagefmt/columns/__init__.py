"""The fast decoder: all messages of a page at once, as Arrow columns (design: lock-step over fields, not over records).

Import ``pagefmt.columns.page`` for the work; this file imports nothing heavy.
"""

import os

# Pieces of a page come and go at the same sizes: glibc keeps their memory, where Arrow's own allocator gives it back to
# the system each time and pays for it page by page (a quarter of the time, and more memory).
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
