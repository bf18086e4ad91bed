"""Verification of pages, journals and large messages, and of each against the others."""
