"""Facts that rules judge: those of a configuration, its addresses, its data directory and its host."""
