"""How a call runs and ends: exit statuses, deadlines, reading in turn."""
