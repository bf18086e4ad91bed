"""Selectors and filters: the grammar of JMS selectors as Artemis parses and decides it."""

from __future__ import annotations

from pagefmt.selector.lexer import SelectorError
from pagefmt.selector.parser import Selector, parse
from pagefmt.selector.values import Value

__all__ = ["Selector", "SelectorError", "Value", "parse"]
