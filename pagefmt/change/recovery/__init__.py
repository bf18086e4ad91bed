"""The directories of a broker that does not start, written anew from what damage has left of them."""
