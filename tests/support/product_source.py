"""The product's own source: its rooms, their files and what is defined in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "pagefmt": ROOT / "pagefmt",
    "brokerconf": ROOT / "schemas" / "brokerconf",
    "pageengine": ROOT / "pageengine",
    "pagectl": ROOT / "cli" / "pagectl",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Definition:
    """A class or function, with its dotted name: ``pagefmt.codec.pages.page.Page.records``."""

    module: str
    qualified: str
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def is_public(self) -> bool:
        """Return whether no part of the qualified name begins with an underscore.

        Special methods are therefore not public.
        """
        return not any(part.startswith("_") for part in self.qualified.split("."))


def files(room: str) -> list[Path]:
    return sorted(ROOMS[room].rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def modules() -> dict[str, Path]:
    """Return the file of each module of the product by dotted name; that of a package is its ``__init__.py``."""
    found = {}
    for room, folder in ROOMS.items():
        for path in files(room):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((room, *(part for part in parts if part != "__init__")))] = path
    return found


def definitions() -> Iterator[Definition]:
    """Yield every class and function of the product, except those inside functions."""
    for module, path in modules().items():
        yield from _inside(module, "", parsed(path).body)


def _inside(module: str, outer: str, body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _inside(module, outer, [*node.body, *node.orelse])
        if not isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            continue
        yield Definition(module, outer + node.name, node)
        if isinstance(node, ast.ClassDef):
            yield from _inside(module, f"{outer}{node.name}.", node.body)
