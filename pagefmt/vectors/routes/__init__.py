"""Routes of all records of a page, and their acknowledgement states for each queue, as columns."""
