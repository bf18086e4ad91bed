"""What journal files still say about messages that are gone, and about those that wait (docs/spec/history.md)."""
