"""Traces out of the histories that brokers keep of their journals (docs/spec/trace-format.md 3.5)."""
