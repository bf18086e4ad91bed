"""Linting of a configuration: rules chosen, run, listed."""
