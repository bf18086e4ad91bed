"""Messages and records described for people and scripts: JSON, fields beside bytes."""
