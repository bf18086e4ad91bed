"""What serves others: the language server of a text editor's session, metrics over HTTP."""
