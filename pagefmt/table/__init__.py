"""Messages and their states as an Arrow table, and its files."""
