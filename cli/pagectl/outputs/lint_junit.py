"""The findings as JUnit XML: a suite for each file, a case for each finding; a clean file is one case that passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from brokerconf.linting.lint_report import FileReport

from pagectl.terminal.sanitise import visible
from pagefmt.findings import Finding, Severity

# What XML 1.0 has no place for, beyond what is made visible before.
_NO_XML = re.compile("[\ufffe\uffff]")


def lint_junit(files: Sequence[FileReport]) -> str:
    """Return the XML document for all files."""
    suites = Element("testsuites", name="pagectl config lint")
    totals = [0, 0, 0]
    for report in files:
        totals = [a + b for a, b in zip(totals, _suite(suites, report), strict=True)]
    for name, total in zip(("tests", "failures", "errors"), totals, strict=True):
        suites.set(name, str(total))
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _suite(suites: Element, report: FileReport) -> tuple[int, int, int]:
    """Add the test suite of one file and return its numbers of tests, failures and errors.

    Errors of the configuration are failures of type ``error``; remarks are passed cases with a text.
    """
    failures = sum(finding.severity is not Severity.INFO for finding in report.findings)
    tests = max(len(report.findings), 1)
    suite = SubElement(
        suites,
        "testsuite",
        name=_text(report.file),
        tests=str(tests),
        failures=str(failures),
        errors="0",
        skipped="0",
        file=_text(report.file),
    )
    for finding in report.findings:
        _case(suite, finding)
    if not report.findings:
        SubElement(suite, "testcase", name="no findings", classname=_text(report.file))
    return tests, failures, 0


def _case(suite: Element, finding: Finding) -> None:
    file, line, column = finding.place
    place = f"{file}:{line}:{column}"
    case = SubElement(suite, "testcase", name=_text(f"{finding.rule} {place}"), classname=_text(file))
    body = "\n".join(part for part in (f"{place}: {finding.message}", finding.why, finding.help) if part)
    if finding.severity is Severity.INFO:
        SubElement(case, "system-out").text = _text(body)
        return
    failure = SubElement(case, "failure", type=finding.severity.value, message=_text(finding.message))
    failure.text = _text(body)


def _text(text: str) -> str:
    return _NO_XML.sub(lambda match: f"\\u{ord(match.group()):04x}", visible(text))
