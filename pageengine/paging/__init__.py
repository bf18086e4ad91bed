"""Paging of one address: store, cursor, clean-up, limits."""
