"""Offline compaction, restore and salvage: giving disk space back without losing a message (docs/spec/journal.md 8)."""
