"""Settings in force: matches merged, overrides applied, capacity."""
