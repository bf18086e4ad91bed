"""The disk monitor and the forecast of when its limit is reached."""
