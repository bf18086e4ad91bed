"""Replaying a trace: the account of it, comparing outcomes, sweeping over settings."""
