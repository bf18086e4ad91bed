"""A trace out of the logs a real broker wrote (docs/spec/trace-format.md 3): one file per kind of log."""
