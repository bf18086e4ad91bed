"""The engine: operations in, decisions out; restart and invariants."""
