"""Configuration files read into documents with positions: includes, placeholders, properties."""
