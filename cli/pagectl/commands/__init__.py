"""One command a file; each is thin and imports what is heavy inside its function."""
