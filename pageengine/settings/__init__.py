"""The values that decide, and the profiles of editions."""
