"""What a configuration says: schemas, settings, merging, rules. Imports nothing heavy."""
