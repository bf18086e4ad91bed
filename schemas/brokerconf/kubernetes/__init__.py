"""Kubernetes objects that configure brokers: found in YAML, their fields checked, what they hold with its places."""
