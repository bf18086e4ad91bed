"""The broker's journal: files, records, loading, and the records that matter to paging (docs/spec/journal.md)."""
