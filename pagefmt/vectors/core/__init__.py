"""Core messages of a page as columns."""
