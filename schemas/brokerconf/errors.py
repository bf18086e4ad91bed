"""The one root error of brokerconf; subclasses stand beside the code that raises them."""

from __future__ import annotations


class BrokerConfError(Exception):
    """What, where (file, line, column), what next, in one line fit to be shown to an operator."""

    speaks_for_itself = True
