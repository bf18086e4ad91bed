"""The language server: the session of a text editor over standard input and output."""
