"""Operation that the broker or its client refuses: an outcome, not an error of the program."""

from __future__ import annotations


class OperationFailed(Exception):
    """Error for a refused operation; ``error`` is its name in an outcome."""

    def __init__(self, error: str, detail: str | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.detail = detail
