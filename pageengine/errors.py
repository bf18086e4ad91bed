"""Root error of pageengine; subclasses are defined beside the code that raises them."""

from __future__ import annotations


class PageEngineError(Exception):
    """Error in one line for an operator: what happened, where (file and line), what to do."""

    speaks_for_itself = True
