"""pagectl: administration and page-file toolkit for Artemis and HornetQ brokers. What operators type."""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m pagectl` imports this package first, with the working folder before the standard library
    del sys.path[0]

__version__ = "0.1.0"
