"""Broker instances: the location of their files, and the release they run."""
