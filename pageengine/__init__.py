"""What the broker would do: the paging engine and the disk monitor. Imports nothing heavy."""
