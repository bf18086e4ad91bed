"""Data of the engine: messages, references, pages, sizes. No module here decides anything."""
