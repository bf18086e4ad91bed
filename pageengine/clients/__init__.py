"""Clients of the broker: sessions, producers, consumers, XA branches."""
