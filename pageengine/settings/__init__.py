"""Values that decide, and the profiles of editions."""
