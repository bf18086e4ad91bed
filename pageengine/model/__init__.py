"""What the engine is about: messages, references, pages, sizes. Nothing here decides."""
