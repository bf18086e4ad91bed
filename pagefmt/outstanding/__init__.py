"""Which queue holds which message and which page."""
