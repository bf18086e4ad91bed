"""Where things lie in a data directory: stores, bindings, large messages, sizes."""
