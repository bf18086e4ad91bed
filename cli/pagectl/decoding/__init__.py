"""Messages as ``pages decode`` and ``pages find`` were asked for them: read, and written in the form asked for."""
