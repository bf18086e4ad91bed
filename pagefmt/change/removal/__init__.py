"""A queue taken out of a data directory: its messages, acknowledgements, counters and pages."""
