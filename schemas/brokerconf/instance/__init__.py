"""Broker instances: where their files lie, which release runs them."""
