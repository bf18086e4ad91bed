"""One output a file: how an answer looks to a person or to a program."""
