"""Messages of pages as XML: small pages are read together, as if they were one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pagefmt.table.joined_pages import JoinedPages, page_groups
from pagefmt.table.table import PageSource
from pagefmt.vectors import Routing, XmlItem, joined_xml_items, xml_items

# bytes of small pages whose XML is made together: the more, the less each structure of messages costs
_GROUP: Final = 4 << 20


def joined_xml(sources: Iterable[PageSource], queues: Callable[[Routing], str | None]) -> Iterator[tuple[int, XmlItem]]:
    """Yield what ``xml_items`` gives for each page, with the number of its source.

    Items of several pages that were read together have the number of the first one.
    """
    for first, group in page_groups(sources, _GROUP):
        items = _joined_items(group, queues) if len(group) > 1 else None
        if items is not None:
            yield from ((first, item) for item in items)
            continue
        for n, source in enumerate(group):
            assert source.rule is not None and not isinstance(source.file, Path)
            yield from ((first + n, item) for item in xml_items(source.file, source.rule, queues))


def _joined_items(group: Sequence[PageSource], queues: Callable[[Routing], str | None]) -> list[XmlItem] | None:
    """Return the items of pages read together, None if one of them has to be read by itself."""
    joined = JoinedPages.of(group)
    if not joined.sound.all():
        return None
    rule = joined.source.rule
    assert rule is not None
    return joined_xml_items(joined.content, joined.frames, joined.opened, rule, queues)
