"""Options that several commands share, and what their texts mean."""
