"""The fast decoder: all messages of a page at once, as Arrow columns (design: lock-step over fields, not over records).

Import ``pagefmt.columns.page`` for the work; this file imports nothing heavy.
"""
