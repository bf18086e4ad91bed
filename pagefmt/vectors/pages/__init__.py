"""Page files read in chunks and at many positions at once."""
