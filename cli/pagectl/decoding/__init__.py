"""Messages as ``pages decode`` and ``messages find`` were asked for them: read, and written in the form asked for."""
