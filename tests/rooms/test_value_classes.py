"""Data classes have slots, as CONTRIBUTING.md says, but for those that cannot have them."""

from __future__ import annotations

import ast

from product_source import definitions

CACHED_PROPERTIES = {
    "brokerconf.editor.descriptions.ElementDescription", "brokerconf.kubernetes.broker_resource.BrokerResource",
    "pagefmt.history.bodies.HistoryBodies", "pagefmt.history.records.HistoryRecords",
}  # fmt: skip
COMPILED = "pageengine."  # mypyc makes structures of data classes without slots alone


def is_without_slots(node: ast.AST) -> bool:
    """Return whether a class is a data class without ``slots=True``."""
    decorators = node.decorator_list if isinstance(node, ast.ClassDef) else []
    return any(
        name.partition("(")[0] == "dataclass" and "slots=True" not in name for name in map(ast.unparse, decorators)
    )


def test_data_classes_have_slots() -> None:
    found = {f"{each.module}.{each.qualified}" for each in definitions() if is_without_slots(each.node)}
    assert {name for name in found if not name.startswith(COMPILED)} == CACHED_PROPERTIES


def test_a_class_without_slots_is_seen() -> None:
    for text, expected in (("@dataclass", True), ("@dataclass(frozen=True)", True), ("@dataclass(slots=True)", False)):
        (node,) = ast.parse(f"{text}\nclass A: ...").body
        assert is_without_slots(node) is expected
