"""The one root error of pagefmt; subclasses stand beside the code that raises them."""

from __future__ import annotations


class PageFmtError(Exception):
    """What, where (file and byte offset), what next, in one line fit to be shown to an operator."""

    speaks_for_itself = True


def installation(extra: str) -> str:
    """Return the command that installs the libraries of an extra of pagectl beside it."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        wanted = [each.partition(";") for each in requires("pagectl") or ()]
    except PackageNotFoundError:  # run from a folder of sources
        wanted = []
    names = [f"'{name.strip()}'" for name, _, condition in wanted if condition.strip() == f"extra == '{extra}'"]
    return f"pip install {' '.join(names) or f'the libraries of the extra {extra}'}"
