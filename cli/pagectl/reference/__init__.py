"""What the command tree says of itself: completion scripts and manual pages, made from the commands' own signatures."""
