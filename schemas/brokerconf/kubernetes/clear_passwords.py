"""Passwords in clear text in a custom resource: in its fields and in its container's environment."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.kubernetes.objects import KubernetesObject
from brokerconf.reading.secrets import is_password_in_clear
from brokerconf.reading.yaml_nodes import YamlNode
from pagefmt.findings import Finding, Severity

RULE = "password-in-clear"
IN_PROPERTIES = (
    "move the property to a Secret whose name ends in -bp, and name that in deploymentPlan.extraMounts.secrets; or "
    "mask the password as ENC(…) with 'artemis mask'"
)
_WHY = "resources end up in repositories, and whoever may read the resource reads the password"
_OF_FIELD = "leave the field out, and let the operator take or make the password in a Secret"
_OF_ADMIN = "leave adminUser and adminPassword out: the operator generates them and keeps them in a Secret"
_OF_VARIABLE = "take it from a Secret with valueFrom.secretKeyRef"


def password_findings(resource: KubernetesObject) -> Iterator[Finding]:
    """Yield a warning for each password field and variable with a value, below ``spec``."""
    spec = resource.node.get("spec")
    waiting = [(spec, "spec")] if spec is not None else []
    while waiting:
        node, path = waiting.pop()
        name, value = node.get("name"), node.get("value")
        if name is not None and value is not None and is_password_in_clear(name.text, _value_text(value)):
            yield _finding(resource, value, name.text, path, _OF_VARIABLE)
        for key, below in node.entries:
            if "password" in key.text.lower() and is_password_in_clear(key.text, _value_text(below)):
                yield _finding(
                    resource,
                    below,
                    key.text,
                    f"{path}.{key.text}",
                    _OF_ADMIN if key.text == "adminPassword" else _OF_FIELD,
                )
            waiting.append((below, f"{path}.{key.text}"))
        waiting += [(item, f"{path}[{number}]") for number, item in enumerate(node.items)]


def _value_text(node: YamlNode) -> str:
    """Return the text of a scalar; nothing if Kubernetes fills it in."""
    return "" if node.text.startswith("$(") else node.text


def _finding(resource: KubernetesObject, node: YamlNode, name: str, path: str, help: str) -> Finding:
    message = f"the password in {name} is in clear text"
    return Finding(resource.position_of(node), Severity.WARNING, RULE, message, path, help, _WHY)
