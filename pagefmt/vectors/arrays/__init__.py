"""Arrays, texts and schemas that columns are made of."""
