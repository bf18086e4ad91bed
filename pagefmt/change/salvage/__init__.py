"""Readable messages of damaged pages, written as pages that a broker loads."""
