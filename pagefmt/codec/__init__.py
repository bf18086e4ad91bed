"""The reference decoder and encoder: bytes to one record, and one record to bytes."""
