"""Queues: dispatch, consumers, last values, filters."""
