"""What rules judge: the facts of a configuration, its addresses, its data directory and its host."""
