"""``pagectl config serve``: a language server for text editors."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import BinaryIO, cast

from pagectl.options.shared import (
    DefineOption,
    EditionOption,
    HeapOption,
    ProfileOption,
    PropertiesOption,
    ServerOption,
)
from pagectl.running.exits import CallError
from pagefmt.errors import installation

EXAMPLES = (
    ("The command that a text editor starts", "config serve"),
    ("The same for an older broker", "config serve --edition artemis-2.28"),
)


def command(
    edition: EditionOption = None,
    heap: HeapOption = None,
    define: DefineOption = None,
    properties: PropertiesOption = None,
    profile: ProfileOption = None,
    server: ServerOption = None,
) -> int:
    """Serve an editor (Language Server Protocol) on standard input and output: findings, completion, hover, fixes."""
    from pagectl.opening.linting import LintRequest, surroundings
    from pagectl.options.configuration import configuration_options
    from pagectl.options.rules import selected_rules

    options = configuration_options(
        edition, heap=heap, define=define, properties=properties, profile=profile, server=server
    )
    request = LintRequest(
        surroundings(options, None, None, None), options, selected_rules([], []), edition_typed=edition is not None
    )
    try:
        from pagectl.serving.server import serve
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise CallError(f"config serve needs pygls; install it with: {installation('editor')}") from err
    if sys.stdin.isatty():
        raise CallError(
            "config serve is started by a text editor and talks to it; in a terminal use: pagectl config lint"
        )
    # nothing but the protocol is written there, whatever a library prints; a wrapper that still had the buffer would
    # close it when it goes away
    stdout = cast(BinaryIO, cast(TextIOWrapper, sys.stdout).detach())
    sys.stdout = sys.stderr
    return serve(request, sys.stdin.buffer, stdout)
