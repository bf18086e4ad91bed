"""Files that a command writes: where they go and how they come to be there."""
