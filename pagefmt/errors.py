"""The one root error of pagefmt; subclasses stand beside the code that raises them."""

from __future__ import annotations


class PageFmtError(Exception):
    """What, where (file and byte offset), what next, in one line fit to be shown to an operator."""

    speaks_for_itself = True
