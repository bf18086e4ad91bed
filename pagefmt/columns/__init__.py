"""All messages of a page at once as Arrow columns and as JSON lines: step by step over fields, not over records."""
