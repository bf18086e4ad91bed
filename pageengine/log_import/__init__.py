"""Traces from the logs that a real broker wrote (docs/spec/trace-format.md 3): one file per kind of log."""
