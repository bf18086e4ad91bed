"""A configuration linted: rules chosen, run, listed."""
