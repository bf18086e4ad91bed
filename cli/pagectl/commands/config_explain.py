"""``pagectl config explain``: a setting, an element or a rule in words."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import EditionOption, TextOrJsonOption, edition_of
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("A setting", "config explain max-size-bytes"),
    ("An element, as one release defines it", "config explain core/bridges/bridge --edition artemis-2.28"),
    ("A rule", "config explain page-limit-unused"),
    ("A line of the broker's log", "config explain AMQ222039"),
)


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SETTING|ELEMENT|RULE|AMQ…",
            help="For example max-size-bytes, bridge, core/bridges/bridge, page-limit-unused or AMQ222039, the number "
            "of a line of the broker's log.",
        ),
    ],
    edition: EditionOption = None,
    format: TextOrJsonOption = TextOrJson.text,
) -> None:
    """Explain a setting, an element (its place and its content), a rule (what it finds, and why), or a numbered line of
    the broker's log (what happened, and what to look at).
    """  # noqa: D205
    from brokerconf.editor.explanation import explain

    explanation = explain(name, edition_of(edition))
    if format is TextOrJson.json:
        from pagectl.reports.config_explain import ConfigExplanation

        print_json(ConfigExplanation.of(explanation))
    else:
        from pagectl.outputs.explanation_text import print_explanation

        print_explanation(explanation)
