"""What a broker would have left on the disk, written as real page and journal files."""
