"""Every id that a finding can have, with its meaning: rules, and checks that are always on."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from brokerconf.rules import rules
from pagefmt.findings import did_you_mean


class RuleDescription(NamedTuple):
    """Description of an id in ``config rules`` and SARIF."""

    id: str
    title: str
    why: str
    help: str


_REFUSED = "the broker does not start"
_NO_OBJECT = "Kubernetes refuses the object"
# Reading, schema, the reader's own checks of values; (title, why).
CHECKS: dict[str, tuple[str, str]] = {
    "address-without-routing-type": ("an address with neither anycast nor multicast", _REFUSED),
    "bad-uri": ("an acceptor or connector whose address is not valid", _REFUSED),
    "bad-value": ("a value that the schema allows but the broker's reader refuses", _REFUSED),
    "boolean-one": ("1 as a boolean", "the schema accepts 1 as true, but the broker reads it as false"),
    "core-not-found": ("no element written as <core>", "the broker starts silently with only its defaults"),
    "dangling-reference": ("a reference to a name that is not declared", _REFUSED),
    "document-type": ("a document type declaration", "it can pull in other files; pagectl never follows it"),
    "duplicate-connector": ("the same connector name twice", "the later one is ignored"),
    "duplicate-name": ("two parts with the same name where names must be unique", _REFUSED),
    "element-in-value": ("elements where a value is expected", _REFUSED),
    "element-order": ("an element in the wrong place", _REFUSED),
    "encoding": ("a file that is not UTF-8, or begins with a byte order mark", _REFUSED),
    "encoding-ignored": ("a declared encoding that is ignored", "the broker does not look at the declaration"),
    "fragment": ("a part of a configuration on its own", "it is checked as if it were in its place"),
    "include-refused": ("an include outside the configuration's folder, too deep, or not a plain file", "never opened"),
    "include-working-directory": ("an include", "the broker looks for it in its working directory"),
    "invalid-value": ("a value that the schema does not allow", _REFUSED),
    "kubernetes-api-version": ("an apiVersion that no operator knows for the kind", _NO_OBJECT),
    "kubernetes-base64": ("data that is not base64", _NO_OBJECT),
    "kubernetes-duplicate-property": ("a duplicate key in brokerProperties", "the operator refuses the resource"),
    "kubernetes-field-missing": ("a missing required field of a custom resource", _NO_OBJECT),
    "kubernetes-field-type": ("a field of a custom resource with a value of the wrong type", _NO_OBJECT),
    "kubernetes-field-value": ("a word that the operator does not know", "it is read as another word, or ignored"),
    "kubernetes-no-broker": ("Kubernetes objects without any configuration of a broker", "nothing was checked"),
    "kubernetes-not-a-broker": ("an object, or one of its keys, that is not checked", "it is not known to be valid"),
    "kubernetes-pod-prefix": (
        "a property for one pod that no pod, or every pod, receives",
        "it does not have the intended effect",
    ),
    "kubernetes-properties-not-applied": (
        "properties in a place where operators do not look",
        "no broker receives them",
    ),
    "kubernetes-unknown-field": ("a field that the custom resource does not have", "no broker ever sees it"),
    "match-refused": ("a match that the broker refuses", _REFUSED),
    "missing-attribute": ("a missing required attribute", _REFUSED),
    "missing-element": ("a missing required element", _REFUSED),
    "more-faults": ("more schema errors than are listed", _REFUSED),
    "never-read": ("an element that the schema defines but the broker never reads", "it has no effect"),
    "not-well-formed": ("not well-formed XML", _REFUSED),
    "part-not-read": ("an element beside the first core", "it is neither checked nor read"),
    "placeholder": ("a ${…} that never ends or has no name", _REFUSED),
    "placeholder-swallows": (
        "a ${ that is closed too late",
        "everything in between is replaced before the file is parsed",
    ),
    "placeholder-unclosed": ("a ${ without }", "nothing after it is replaced"),
    "properties-unreadable": (
        "a properties file that does not match its extension",
        "nothing in the file is applied; only the status attribute shows it",
    ),
    "repeated-element": ("an element that is allowed once occurs twice", _REFUSED),
    "server": ("a requested messaging server that does not exist", "nothing in the file was checked"),
    "profile": ("a requested profile that does not exist", "nothing in the file was checked"),
    "size-overflow": ("a size beyond 64 bits", "it becomes another number without an error"),
    "stray-text": ("text where elements belong", _REFUSED),
    "taken-for-broker": (
        "an element further down that the broker reads as its own setting",
        "the first one at any depth is used",
    ),
    "template": ("a template that is not rendered", "values and elements that are filled in later are not known"),
    "too-deep": ("elements nested too deeply", "not read: it could exhaust memory"),
    "too-large": ("a file that is too large", "not read into memory"),
    "unknown-attribute": ("an attribute that is not in the schema of this edition", _REFUSED),
    "unknown-element": ("an element that is not in the schema of this edition", _REFUSED),
    "unknown-permission": ("a permission of unknown type", "it has no effect"),
    "unknown-root": ("a document element that no broker knows", "the schema refuses the whole document"),
    "unknown-subsystem": ("a messaging subsystem of an unknown version", "nothing in it was checked"),
    "unknown-rule": ("a comment or option that does not name a rule", "it silences nothing"),
    "yaml-aliases": ("aliases that expand without limit", "never followed"),
    "yaml-duplicate-key": ("a duplicate key in a YAML object", "Kubernetes refuses it, or one of the two is lost"),
    "yaml-syntax": ("not YAML", _NO_OBJECT),
    "xsd": ("another schema error", _REFUSED),
}


@cache
def known_ids() -> frozenset[str]:
    """Return the ids of all rules and checks that can be silenced."""
    return frozenset(CHECKS) | {rule.id for rule in rules()}


def meant(name: str, names: Collection[str]) -> str:
    """Return advice about an unknown name: similar names, else all of them if they are few."""
    listed = "'pagectl config rules' lists them" if len(names) > 20 else f"known are {', '.join(sorted(names))}"
    return did_you_mean(name, names, listed)


def described() -> dict[str, RuleDescription]:
    """Return the description of every rule and check, by id in alphabetical order."""
    descriptions = {id: RuleDescription(id, title, why, "") for id, (title, why) in CHECKS.items()}
    descriptions |= {rule.id: RuleDescription(rule.id, rule.title, rule.why, rule.help) for rule in rules()}
    return dict(sorted(descriptions.items()))
