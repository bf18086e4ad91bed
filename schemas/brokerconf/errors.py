"""Root error of brokerconf; subclasses are defined beside the code that raises them."""

from __future__ import annotations


class BrokerConfError(Exception):
    """Error with what, where (file, line, column) and what next, in one line fit for an operator."""

    speaks_for_itself = True
