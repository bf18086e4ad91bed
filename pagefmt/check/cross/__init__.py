"""Checks across pages, journal, bindings and large messages (docs/spec/journal.md 9). One subject, one file."""
