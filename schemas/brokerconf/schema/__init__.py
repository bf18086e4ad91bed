"""Schemas of each edition and validation against them."""
