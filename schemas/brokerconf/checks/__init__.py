"""What brokers' readers ask of a value, and what they accept in silence."""
