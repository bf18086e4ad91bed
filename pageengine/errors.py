"""The one root error of pageengine; subclasses stand beside the code that raises them."""

from __future__ import annotations


class PageEngineError(Exception):
    """What, where (file and line), what next, in one line fit to be shown to an operator."""

    speaks_for_itself = True
