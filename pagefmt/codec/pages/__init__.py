"""Page files: frames, records, reading a page."""
