"""Writes ``docs/jobs/typical-mistakes.md``: what ten mistakes look like, beside xmllint.

Run from the checkout with the packages importable. ``xmllint`` (libxml2-utils) is needed; without it the page stays as
it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from brokerconf.evidence.rule import Example
from brokerconf.linting.examples import xml_of
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import FileReport, LintContext
from brokerconf.schema.xsd_files import path_of

from pagefmt.editions import NEWEST, Edition

PAGE = Path(__file__).resolve().parents[1] / "jobs" / "typical-mistakes.md"


@dataclass(frozen=True, slots=True)
class Mistake:
    """``what`` an operator does, and the configuration in which it stands; ``rules`` what the lint calls it."""

    what: str
    example: Example
    rules: frozenset[str]


def _setting(inside: str, match: str = "orders.#") -> str:
    return f'<address-setting match="{match}">{inside}</address-setting>'


MISTAKES = (
    Mistake(
        "a misspelt element", Example(settings=_setting("<max-size-byte>10M</max-size-byte>"), valid=False),
        frozenset({"unknown-element"}),
    ),
    Mistake(
        "a policy in the wrong case",
        Example(settings=_setting("<address-full-policy>Page</address-full-policy>"), valid=False),
        frozenset({"invalid-value"}),
    ),
    Mistake(
        "`10Gb` for a page", Example(settings=_setting("<page-size-bytes>10Gb</page-size-bytes>")),
        frozenset({"bad-value"}),
    ),
    Mistake(
        "pages larger than the address limit",
        Example(
            edition=Edition.ARTEMIS_2_17,
            settings=_setting("<max-size-bytes>5M</max-size-bytes><page-size-bytes>10M</page-size-bytes>"),
        ),
        frozenset({"page-size-not-below-max-size"}),
    ),
    Mistake(
        "a page limit without a policy", Example(settings=_setting("<page-limit-bytes>1G</page-limit-bytes>")),
        frozenset({"page-limit-without-policy"}),
    ),
    Mistake(
        "both disk limits", Example(core="<max-disk-usage>85</max-disk-usage><min-disk-free>10G</min-disk-free>"),
        frozenset({"both-disk-limits"}),
    ),
    Mistake(
        "`#` in the middle of a match",
        Example(settings=_setting("<max-size-bytes>10M</max-size-bytes>", match="orders.#.eu")),
        frozenset({"match-refused"}),
    ),
    Mistake(
        "the same match twice",
        Example(
            settings=_setting("<max-size-bytes>10M</max-size-bytes>")
            + "\n"
            + _setting("<page-size-bytes>1M</page-size-bytes>")
        ),
        frozenset({"duplicate-match"}),
    ),
    Mistake(
        "a setting newer than the broker",
        Example(
            edition=Edition.ARTEMIS_2_28, settings=_setting("<prefetch-page-bytes>1M</prefetch-page-bytes>"),
            valid=False,
        ),
        frozenset({"unknown-in-version"}),
    ),
    Mistake(
        "a password in clear text", Example(core="<cluster-password>example-only</cluster-password>"),
        frozenset({"password-in-clear"}),
    ),
)  # fmt: skip


def report_of(mistake: Mistake) -> FileReport:
    return lint(xml_of(mistake.example).encode(), "broker.xml", LintContext(edition=mistake.example.edition))


def ours(mistake: Mistake) -> str:
    """Format the first finding of the mistake's rules like the text output, without source lines."""
    found = [finding for finding in report_of(mistake).findings if finding.rule in mistake.rules]
    assert found, f"{mistake.what}: not found"
    one = found[0]
    return f"{one.place.line}:{one.place.column}: {one.severity.value}: {one.message} [{one.rule}]; {one.help}"


def xmllint(mistake: Mistake) -> str:
    """Validate the mistake with ``xmllint`` and return its errors without name spaces, or ``validates``."""
    schema = path_of(mistake.example.edition, "server.xsd")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "broker.xml"
        path.write_text(xml_of(mistake.example), "utf-8")
        call = ["xmllint", "--noout", "--nonet", "--schema", str(schema), str(path)]
        said = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    lines = [line.replace(str(path), "broker.xml") for line in said.stderr.splitlines()]
    if said.returncode == 0:
        return "validates"
    return re.sub(r"\{[^}]*\}", "", " / ".join(line for line in lines if "error" in line))


def mistakes_page() -> str:
    head = [
        "# Ten typical mistakes",
        "",
        "What `xmllint` reports with the broker's own schema, and what pagectl reports.",
        "",
        "| mistake | `xmllint --schema` | `pagectl config lint` |",
        "|---|---|---|",
    ]
    rows = []
    for mistake in MISTAKES:
        edition = "" if mistake.example.edition is NEWEST else f" ({mistake.example.edition.value})"
        rows.append(f"| {mistake.what}{edition} | {_cell(xmllint(mistake))} | {_cell(ours(mistake))} |")
    return "\n".join([*head, *rows]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def main() -> int:
    if shutil.which("xmllint") is None:
        sys.stderr.write("no xmllint here: the page stays as it is\n")
        return 1
    PAGE.write_text(mistakes_page(), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
