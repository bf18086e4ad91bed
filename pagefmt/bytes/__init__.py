"""Reading and writing bytes: scalars, files, file systems."""
