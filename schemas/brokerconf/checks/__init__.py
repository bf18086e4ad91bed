"""Checks of values: what brokers' readers require, and what they accept silently."""
