"""Data directory that a broker would have left, written as real page and journal files."""
