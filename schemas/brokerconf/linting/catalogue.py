"""Every id that a finding can have, with its meaning: rules, and checks that are always on."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from brokerconf.rules import rules
from pagefmt.findings import did_you_mean


class RuleDescription(NamedTuple):
    """What ``config rules`` and SARIF say about an id."""

    id: str
    title: str
    why: str
    help: str


_REFUSED = "the broker does not start"
_NO_OBJECT = "Kubernetes refuses the object"
# Reading, schema, the reader's own checks of values; (title, why).
CHECKS: dict[str, tuple[str, str]] = {
    "address-without-routing-type": ("an address with neither anycast nor multicast", _REFUSED),
    "bad-uri": ("an acceptor or connector whose address is none", _REFUSED),
    "bad-value": ("a value that the schema allows and the broker's reader refuses", _REFUSED),
    "boolean-one": ("1 for a boolean", "the schema takes 1 for true, the broker reads it as false"),
    "core-not-found": ("no element that is written <core>", "the broker starts without a word, on its defaults alone"),
    "dangling-reference": ("a reference to a name that is declared nowhere", _REFUSED),
    "document-type": ("a document type declaration", "it can pull in other files; it is never followed here"),
    "duplicate-connector": ("the same connector name twice", "the later one is left out"),
    "duplicate-name": ("two parts of one name where names are unique", _REFUSED),
    "element-in-value": ("elements where a value belongs", _REFUSED),
    "element-order": ("an element at the wrong place", _REFUSED),
    "encoding": ("a file that is not UTF-8, or begins with a byte order mark", _REFUSED),
    "encoding-ignored": ("a declared encoding that is not what counts", "the broker does not look at the declaration"),
    "fragment": ("a part of a configuration that stands alone", "it is checked as it would be in its place"),
    "include-refused": ("an include outside the configuration's folder, too deep, or not a plain file", "never opened"),
    "include-working-directory": ("an include", "it is looked for in the broker's working directory"),
    "invalid-value": ("a value that the schema does not allow", _REFUSED),
    "kubernetes-api-version": ("an apiVersion that no operator has for the kind", _NO_OBJECT),
    "kubernetes-base64": ("data that is not base64", _NO_OBJECT),
    "kubernetes-duplicate-property": ("a key twice in brokerProperties", "the operator refuses the resource"),
    "kubernetes-field-missing": ("a field of a custom resource that must be there", _NO_OBJECT),
    "kubernetes-field-type": ("a field of a custom resource with a value of another type", _NO_OBJECT),
    "kubernetes-field-value": ("a word that the operator does not know", "it is taken for another one, or ignored"),
    "kubernetes-no-broker": ("Kubernetes objects without any configuration of a broker", "nothing was checked"),
    "kubernetes-not-a-broker": ("an object, or a key of one, that is not looked at", "it is not known to be sound"),
    "kubernetes-pod-prefix": ("a property for one pod that no pod, or every pod, gets", "it has no effect as meant"),
    "kubernetes-properties-not-applied": ("properties where operators do not look", "no broker gets them"),
    "kubernetes-unknown-field": ("a field that the custom resource does not have", "no broker ever sees it"),
    "match-refused": ("a match that the broker refuses", _REFUSED),
    "missing-attribute": ("an attribute that must be there", _REFUSED),
    "missing-element": ("an element that must be there", _REFUSED),
    "more-faults": ("more faults against the schema than are listed", _REFUSED),
    "never-read": ("an element that the schema has and the broker never reads", "it has no effect"),
    "not-well-formed": ("not well-formed XML", _REFUSED),
    "part-not-read": ("an element beside the first core", "it is neither checked nor read"),
    "placeholder": ("a ${…} that never ends or names nothing", _REFUSED),
    "placeholder-swallows": ("a ${ that is closed far behind", "all between is gone before the file is parsed"),
    "placeholder-unclosed": ("a ${ without }", "nothing after it is replaced any more"),
    "properties-unreadable": (
        "properties that are not what their name says",
        "none of the file is applied; only the status attribute tells",
    ),
    "repeated-element": ("an element that may stand once stands twice", _REFUSED),
    "server": ("a messaging server that was asked for and is not there", "nothing of the file was looked at"),
    "profile": ("a profile that was asked for and is not there", "nothing of the file was looked at"),
    "size-overflow": ("a size beyond 64 bits", "it becomes another number without an error"),
    "stray-text": ("text where elements belong", _REFUSED),
    "taken-for-broker": ("an element further down that the broker takes for its own", "the first at any depth counts"),
    "too-deep": ("elements nested beyond what is read", "never read: it would exhaust the reader"),
    "too-large": ("a file beyond the size that is read", "never read into memory"),
    "unknown-attribute": ("an attribute that the schema of this edition does not have", _REFUSED),
    "unknown-element": ("an element that the schema of this edition does not have", _REFUSED),
    "unknown-permission": ("a permission of an unknown type", "it has no effect"),
    "unknown-root": ("a document element that no broker knows", "the schema refuses the whole document"),
    "unknown-subsystem": ("a messaging subsystem of a version that is not known here", "nothing of it was checked"),
    "unknown-rule": ("a comment or option that names no rule", "it silences nothing"),
    "yaml-aliases": ("aliases without end", "never followed"),
    "yaml-duplicate-key": ("a key twice in a YAML object", "Kubernetes refuses it, or one of the two is lost"),
    "yaml-syntax": ("not YAML", _NO_OBJECT),
    "xsd": ("another fault against the schema", _REFUSED),
}


@cache
def known_ids() -> frozenset[str]:
    """All ids that can be silenced."""
    return frozenset(CHECKS) | {rule.id for rule in rules()}


def meant(name: str, known: Collection[str]) -> str:
    """The end of an error about a name that is not known: what is near, else all where these are few."""
    listed = "'pagectl config rules' lists them" if len(known) > 20 else f"known are {', '.join(sorted(known))}"
    return did_you_mean(name, known, listed)


def described() -> dict[str, RuleDescription]:
    """Every id, in order."""
    found = {id: RuleDescription(id, title, why, "") for id, (title, why) in CHECKS.items()}
    found |= {rule.id: RuleDescription(rule.id, rule.title, rule.why, rule.help) for rule in rules()}
    return dict(sorted(found.items()))
