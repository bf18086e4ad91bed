"""pagectl: administration and page-file toolkit for Artemis and HornetQ brokers. What operators type."""

__version__ = "0.1.0"
