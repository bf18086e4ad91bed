"""Files and object stores: opening, reading, writing, archives."""
