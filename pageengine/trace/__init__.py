"""Operations and the files that they are read from and written to."""
