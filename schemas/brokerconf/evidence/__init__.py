"""What a rule is made of and what it may ask: facts of a configuration, its addresses, its host."""
