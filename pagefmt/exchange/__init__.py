"""Messages in the forms in which others take them: as core messages, as XML of the broker's own tools."""
