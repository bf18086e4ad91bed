"""A data directory of an older broker written anew, as one that a 2.x broker starts on."""
