"""The one root error of pageengine; subclasses stand beside the code that raises them."""

from __future__ import annotations


class PageEngineError(Exception):
    """One line for an operator: what happened, where (file and line), what to do."""

    speaks_for_itself = True
