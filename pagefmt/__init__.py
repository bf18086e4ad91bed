"""What is on the disk: bytes, then structure, then meaning. Imports nothing heavy."""
