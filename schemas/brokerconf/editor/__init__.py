"""What an editor asks while a configuration is being written: what may stand here, what does this do, what is wrong."""
