"""Faults of a schema as findings: in the operator's words, with what was probably meant, one for each element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.repairs import with_attribute, with_text
from brokerconf.reading.secrets import is_secret, masked
from brokerconf.schema.schema_places import SchemaPlaces
from brokerconf.schema.validation import MOST_FAULTS, ORDER, SchemaVerdict, Violation
from pagefmt.findings import Finding, Fix, Severity, did_you_mean

_REFUSED = "the broker validates its configuration before it reads it and does not start"
_UNSEEN = "the broker ignores this part and starts, although the document as a whole is not valid against the schema"
_RULES = {
    "cvc-complex-type.2.3": "stray-text",
    "cvc-complex-type.2.4.b": "missing-element",
    "cvc-complex-type.4": "missing-attribute",
    "cvc-complex-type.3.2.1": "unknown-attribute",
    "cvc-complex-type.3.2.2": "unknown-attribute",
    "cvc-type.3.1.1": "unknown-attribute",
    "cvc-type.3.1.2": "element-in-value",
    "cvc-complex-type.2.2": "element-in-value",
    "cvc-enumeration-valid": "invalid-value",
    "cvc-id.1": "dangling-reference",
    "cvc-id.2": "duplicate-name",
    ORDER: "element-order",
}
_PLACE = ("cvc-complex-type.2.4.a", "cvc-complex-type.2.4.c", "cvc-elt.1.a")


def schema_findings(document: Document, verdict: SchemaVerdict) -> list[Finding]:
    """Return one finding for each element and attribute at fault; faults below an unknown element are left out."""
    places = SchemaPlaces(document)
    seen: set[tuple[int, str]] = set()
    findings: list[Finding] = []
    for violation, refused in _once(verdict):
        key = (id(violation.node), violation.attribute)
        if key not in seen:
            seen.add(key)
            findings.append(_finding(violation, refused, places))
    if verdict.cut:
        findings.append(_more(document))
    if document.taken_for:
        findings = [finding for finding in findings if not _stands_elsewhere(finding, document)]
    return [_of_server(finding) for finding in findings] if document.subsystems else findings


def _more(document: Document) -> Finding:
    root = document.root
    message = f"more than {MOST_FAULTS} schema errors: the others are not listed"
    return Finding(
        root.position,
        Severity.ERROR,
        "more-faults",
        message,
        root.path,
        "correct the first ones",
        _REFUSED,
        stops_start=True,
    )


def _stands_elsewhere(finding: Finding, document: Document) -> bool:
    """Return whether a fault is only the absence of something, which a fragment leaves to the rest of the file."""
    match finding.rule:
        case "dangling-reference" if document.is_part:
            return True
        case "missing-element" if not document.complete:
            return True
        case "element-order" if finding.path.rpartition("/")[0] in document.added:
            return True
    return finding.path in document.added


def _of_server(finding: Finding) -> Finding:
    """Return the finding with its consequence for an application server, which accepts elements in any order."""
    if finding.rule == "element-order":
        why = "the schema requires an order; the server itself does not"
        return finding._replace(severity=Severity.INFO, why=why, stops_start=False)
    return finding._replace(why="the application server does not start with this file", stops_start=True)


def _once(verdict: SchemaVerdict) -> Iterator[tuple[Violation, bool]]:
    """Yield each violation and whether the broker refuses it.

    The broker's verdict comes first, so that of equal violations the one with the broker's consequence is kept.
    """
    broker = {id(violation.node) for violation in verdict.broker}
    for violation in (*verdict.broker, *verdict.document):
        yield violation, id(violation.node) in broker


def _finding(violation: Violation, refused: bool, places: SchemaPlaces) -> Finding:
    rule, message, advice = _rule_and_words(violation, places)
    node = violation.node
    at = node.position
    around = [ancestor for ancestor in _upwards(node) if is_secret(ancestor.name)]
    if around and (around[-1] is not node or violation.attribute):
        secret = around[-1]
        message = f"something in <{secret.name}> does not belong there or is wrong; it may be the secret"
        path, why = secret.path, _REFUSED if refused else _UNSEEN
        return Finding(
            secret.position,
            Severity.ERROR,
            rule,
            message,
            path,
            "write only the value between the tags",
            why,
            stops_start=refused,
        )
    if violation.attribute and violation.attribute in node.attributes:
        at = node.attribute_position(violation.attribute)
    elif rule == "invalid-value" and node.text.strip():
        at = node.text_position
    fix = _respelt(violation, places) if rule == "invalid-value" else None
    why = _REFUSED if refused else _UNSEEN
    return Finding(at, Severity.ERROR, rule, message, node.path, advice, why, fix, refused)


def _respelt(violation: Violation, places: SchemaPlaces) -> Fix | None:
    """Return the fix for a value that differs from exactly one word of its enumeration by case alone, or None."""
    node, attribute = violation.node, violation.attribute
    fact = places.fact(node, attribute)
    written = node.attributes.get(attribute, "") if attribute else node.text
    meant = [word for word in fact.enum.split("|") if word.lower() == written.strip().lower()] if fact else []
    if len(meant) != 1:
        return None
    return with_attribute(node, attribute, meant[0]) if attribute else with_text(node, meant[0])


def _upwards(node: ConfigNode | None) -> Iterator[ConfigNode]:
    """Yield the element and its ancestors, the innermost first."""
    while node is not None:
        yield node
        node = node.parent


def _rule_and_words(violation: Violation, places: SchemaPlaces) -> tuple[str, str, str]:
    """Return rule, message and advice for a violation."""
    node, attribute = violation.node, violation.attribute
    if violation.rule in _PLACE:
        return _out_of_place(violation, places)
    rule = _RULES.get(violation.rule, "invalid-value" if "datatype" in violation.rule else "xsd")
    owner = f"<{node.name}>"
    match rule:
        case "stray-text":
            return (
                rule,
                f"text directly inside {owner}, which may contain only elements",
                "remove it, or close the previous tag",
            )
        case "missing-element":
            required = places.missing(node) or [violation.expected or ("a child",)]
            missing = ", ".join(" or ".join(f"<{name}>" for name in names) for names in required)
            are = "is" if len(required) == 1 else "are"
            return rule, f"{owner} is not complete: {missing} {are} missing", f"add {missing}"
        case "missing-attribute":
            return (
                rule,
                f"{owner} has no attribute '{attribute}'",
                _probable_name(attribute, node.attributes, f"add {attribute}="),
            )
        case "unknown-attribute":
            names = places.attributes(node)
            advice = did_you_mean(attribute, names, _listed("attributes here", names))
            return rule, f"{owner} has no attribute '{attribute}'", advice
        case "element-in-value":
            return rule, f"{owner} contains a value, not elements", "remove the elements inside"
        case "invalid-value":
            return rule, *_value(violation, places)
        case "dangling-reference":
            advice = did_you_mean(violation.value, violation.expected, "declare it, or correct the name")
            return rule, f"'{violation.value}' is not declared in this file", advice
        case "element-order":
            return rule, f"{owner} comes after elements that follow it in the schema", "the server does not mind"
        case "duplicate-name":
            return rule, f"'{violation.value}' is already the name of something else", "names of such parts are unique"
        case _:
            return rule, masked(violation.text, node.name), "see the schema of this edition"


def _probable_name(wanted: str, written: Iterable[str], otherwise: str) -> str:
    return did_you_mean(wanted, written, otherwise, shown=f"'{wanted}' by '{{}}'")


def _value(violation: Violation, places: SchemaPlaces) -> tuple[str, str]:
    node, attribute = violation.node, violation.attribute
    fact = places.fact(node, attribute)
    name = attribute or node.name
    written = violation.value or (node.attributes.get(attribute, "") if attribute else node.text)
    shown = masked(written.strip() if written.strip() else written, name)[:80]
    allowed = fact.enum.split("|") if fact and fact.enum else []
    if allowed:
        advice = did_you_mean(written.strip(), allowed, shown="{}")
        return f"'{shown}' is not a valid value of {name}", f"{advice} allowed: {', '.join(allowed)}".lstrip()
    if fact is None or fact.type_name:
        return f"{name} is '{shown}', which the schema does not allow", "see the schema of this edition"
    kind = fact.type
    words = {"boolean": "write true or false", "long": "write a whole number", "int": "write a whole number"}
    return f"{name} is '{shown}', which is not a valid {kind}", words.get(kind, f"write a value of type {kind}")


def _out_of_place(violation: Violation, places: SchemaPlaces) -> tuple[str, str, str]:
    """Return rule, message and advice for an element that is unknown in its parent, repeated, or out of order."""
    node, parent = violation.node, violation.node.parent
    if parent is None or places.type_of(parent) is None:
        return _outside(node)
    names = places.elements(parent)
    if node.name in names:
        if parent.child(node.name) is not node:
            advice = "keep one of them; the settings of a section belong in one element"
            return "repeated-element", f"<{node.name}> occurs in <{parent.name}> a second time", advice
        return "element-order", f"<{node.name}> is in the wrong place in <{parent.name}>", _right_place(node, places)
    elsewhere = places.owners(node.name)
    otherwise = f"it belongs in <{elsewhere[0]}>" if elsewhere else _listed("elements here", names)
    advice = did_you_mean(node.name, names, otherwise, cutoff=0.7, shown="<{}>")
    return "unknown-element", f"<{parent.name}> has no <{node.name}>", advice


def _right_place(node: ConfigNode, places: SchemaPlaces) -> str:
    """Return, in words, where an element belongs among its siblings, else what is required before it."""
    before, after = places.out_of_order(node)
    listed = ", ".join(f"<{name}>" for name in before or after)
    if listed:
        return f"<{node.name}> comes {'after' if before else 'before'} {listed}"
    required = places.missing(node.parent) if node.parent else []
    missing = ", ".join(" or ".join(f"<{name}>" for name in names) for names in required)
    return f"add {missing} before it" if missing else "the order of elements matters here"


def _outside(node: ConfigNode) -> tuple[str, str, str]:
    if node.parent is None:
        message = f"<{node.tag}> in namespace '{node.namespace}' is not a document element of a broker configuration"
        return (
            "unknown-root",
            message,
            'start with <configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">',
        )
    message = f"<{node.tag}> in namespace '{node.namespace}' does not belong here"
    if node.tag in ("core", "jms"):
        return "unknown-element", message, f'write <{node.tag} xmlns="urn:activemq:{node.tag}">'
    return "unknown-element", message, "<configuration> may contain only <core> and <jms> in their own namespaces"


def _listed(what: str, names: list[str]) -> str:
    """Return the names in words, or general advice if there are too many to read."""
    if len(names) > 12:
        return "remove it, or correct its name"
    return f"{what}: {', '.join(sorted(names))}" if names else "remove it"
