"""Names are nouns and verbs of the field: a participle or pronoun by itself names nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from product_source import FUNCTIONS, modules, parsed

BARE = frozenset(
    "found told said made given taken asked each one here known look rest".split()  # noqa: SIM905
)
# How many functions use one of these as a name. It may only fall.
BUDGET = {"pagefmt": 1, "brokerconf": 0, "pageengine": 0, "pagectl": 0}


def bare_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the parameters and variables of a function, not of functions inside it, that are bare words."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    yield from {each.arg for each in arguments} & BARE
    inner: list[ast.AST] = list(node.body)
    names = set()
    while inner:
        part = inner.pop()
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        inner.extend(ast.iter_child_nodes(part))
    yield from names & BARE


def test_bare_words_are_no_names() -> None:
    counts: Counter[str] = Counter()
    for module, path in modules().items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, FUNCTIONS):
                counts[module.partition(".")[0]] += len(set(bare_names(node)))
    assert {room: counts[room] for room in BUDGET if counts[room] > BUDGET[room]} == {}, dict(counts)
