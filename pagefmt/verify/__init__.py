"""Every byte of a page accounted for, and what a broker would do with it."""
