"""Broker configurations: schemas, settings, merging, rules. Imports nothing heavy."""
