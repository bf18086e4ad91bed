"""Where the start of a broker stops by our account, compared with what a real broker said about each file."""

from __future__ import annotations

from collections import Counter

from brokerconf.checks.value_checks import value_findings
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import read
from brokerconf.schema.validation import SchemaVerdict, judge
from brokerconf.settings.effective import EffectiveSettings
from config_cases import Judged, judged

# Refused by us whatever the broker makes of them (promises 14): entities, and nesting without end.
OURS = {"document-type", "too-deep"}
PHASES = {
    "read": "read",
    "schema": "schema",
    "parser": "reader",
    "repository": "reader",
    "other": "reader",
    "accepted": "accepted",
}


def phase_of(case: Judged) -> tuple[str, SchemaVerdict | None, str]:
    """Return the phase in which pagectl expects the start to stop.

    Return with it the schema's verdict, and the rule of a reading error.
    """
    try:
        document = read(case.path, edition=case.edition, environment={})
    except ReadingError as err:
        return "read", None, err.rule
    verdict = judge(document)
    if verdict.broker:
        return "schema", verdict, ""
    found = value_findings(document, EffectiveSettings(document))
    return ("reader" if found else "accepted"), verdict, ""


def compare(folder: str) -> tuple[list[str], Counter[str]]:
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    for case in judged(folder):
        counts[case.broker] += 1
        phase, verdict, rule = phase_of(case)
        name = f"{case.path.name} by {case.broker}"
        if rule in OURS or case.verdict.get("environment"):
            continue
        if phase != PHASES[case.phase]:
            wrong.append(f"{name}: {phase} where the broker says {case.phase}")
        if verdict is None:
            if case.phase != "read":
                wrong.append(f"{name}: not read ({rule})")
            continue
        wrong += [f"{name}: {fault}" for fault in document_faults(case, verdict)]
    return wrong, counts


def document_faults(case: Judged, verdict: SchemaVerdict) -> list[str]:
    includes = "http://www.w3.org/2001/XInclude" in case.path.read_text("utf-8", "replace")
    if includes and case.broker == "1.5.6":
        return []  # recorded with includes resolved, which no broker of that age does
    said = case.verdict["document"]
    if verdict.valid != (said == "valid"):
        return [f"document {'valid' if verdict.valid else 'invalid'} where the schema says {said}"]
    rules = {error.get("rule") for error in case.verdict["errors"]}
    if verdict.document and verdict.document[0].rule not in rules:
        return [f"rule {verdict.document[0].rule} where the schema says {sorted(map(str, rules))}"]
    return []
