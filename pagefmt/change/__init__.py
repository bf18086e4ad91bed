"""Everything that writes a directory: compaction, removal, conversion, salvage, recovery. Plan, apply, undo."""
