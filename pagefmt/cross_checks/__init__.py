"""Checks across pages, journal, bindings and large messages (spec/journal.md 9). One subject, one file."""
