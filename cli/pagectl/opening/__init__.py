"""What was named on the command line, opened: directories, configuration, edition, and where each fact came from."""
