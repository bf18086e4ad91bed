"""Operations of a trace, and the files they are read from and written to."""
