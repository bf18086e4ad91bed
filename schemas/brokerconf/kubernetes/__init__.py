"""Kubernetes objects that configure brokers: their fields, and the files in them with positions."""
