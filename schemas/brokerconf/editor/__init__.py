"""Answers for an editor while a configuration is written: completion, descriptions, findings."""
