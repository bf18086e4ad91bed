"""Whole pages read in one pass with NumPy and Arrow: everything here exists only to be fast.

This module is the only one that code outside of the wing imports. What its names give is what plain code gives, and a
test holds both together:

============================================  ==============================================  ======================
name                                          plain code                                      tests/equivalence
============================================  ==============================================  ======================
``load_state``, ``load_place``                the same in ``pagefmt.outstanding.state``       test_page_origins.py
``load_pages``, ``watch_pages``               the same there, ``pagefmt.outstanding.watch``   test_pages_watch.py
``routed``, ``RouteColumns``                  ``pagefmt.codec.pages.routes``                  test_routes_at_once.py
``ack_state_columns``, ``acked_columns``      ``pagefmt.outstanding.ack_state``               test_compaction_walk.py
``decode_page``, ``PageColumns``              ``handed_out_row``, which reads one record      test_columns.py
``opened_chunks``, ``wanted_records``         ``pagefmt.outstanding.message_filter``          test_facts.py
``level_for``, ``of_reference``, ``select``   ``pagefmt.selector``                            test_facts.py
``ordinary_lines``                            ``pagefmt.table.message_row``                   test_json_lines.py
``xml_items``, ``joined_xml_items``           ``pagefmt.exchange.xml_writing``                test_xml_texts.py
``SoundRecords``                              the strict reader of ``pagefmt.codec.pages``    test_verify_at_once.py
============================================  ==============================================  ======================

What the plain code reads and the fast code does not is left to the plain code within these functions, record by record;
only ``IrregularPage`` leaves the choice to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.journal.load import LoadedJournal
    from pagefmt.outstanding.state import PagingState
    from pagefmt.outstanding.watch import PagesWatch
    from pagefmt.vectors.core.line_parts import LineSource
    from pagefmt.vectors.fact_columns import entries
    from pagefmt.vectors.ordinary_records import ordinary_lines
    from pagefmt.vectors.page_columns import PageColumns, decode_page
    from pagefmt.vectors.pages.chunks import CHUNK, read_chunks
    from pagefmt.vectors.pages.gather import PageBytes
    from pagefmt.vectors.pages.page_buffer import ConcatenatedPages, read_together
    from pagefmt.vectors.pages.record_index import RecordIndex
    from pagefmt.vectors.pages.scan import PageFrames
    from pagefmt.vectors.record_choice import opened_chunks, rows_by_queue, wanted_records
    from pagefmt.vectors.reference_rows import handed_out_row
    from pagefmt.vectors.routes.ack_state_columns import ack_state_columns
    from pagefmt.vectors.routes.acked_columns import acked_columns
    from pagefmt.vectors.routes.route_columns import IrregularPage, RouteColumns, routed
    from pagefmt.vectors.selector_columns import level_for, of_reference, select
    from pagefmt.vectors.sound_records import SoundRecords
    from pagefmt.vectors.xml_elements import XML_CHUNK, Routing, XmlItem, XmlTexts, joined_xml_items, xml_items

# Commands that read no message import neither NumPy nor Arrow: a module is imported when its first name is asked for.
_NAMES: Final = {
    "core.line_parts": "LineSource",
    "fact_columns": "entries",
    "ordinary_records": "ordinary_lines",
    "page_columns": "PageColumns decode_page",
    "pages.chunks": "CHUNK read_chunks",
    "pages.gather": "PageBytes",
    "pages.page_buffer": "ConcatenatedPages read_together",
    "pages.record_index": "RecordIndex",
    "pages.scan": "PageFrames",
    "record_choice": "opened_chunks rows_by_queue wanted_records",
    "reference_rows": "handed_out_row",
    "routes.ack_state_columns": "ack_state_columns",
    "routes.acked_columns": "acked_columns",
    "routes.route_columns": "IrregularPage RouteColumns routed",
    "selector_columns": "level_for of_reference select",
    "sound_records": "SoundRecords",
    "xml_elements": "XML_CHUNK Routing XmlItem XmlTexts joined_xml_items xml_items",
}
_MODULE_OF: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import the module of a name, and keep the name here."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def load_state(paging: Path, journal: Path | None, bindings: Path | None) -> PagingState:
    """Read the journals of a directory, as ``outstanding.state.load_state`` does; pages are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_state(paging, journal, bindings, RouteVectors())


def load_place(
    place: DataLocation, *, locked: bool = False, inspect: Callable[[LoadedJournal], object] = lambda loaded: None
) -> PagingState:
    """Read the journals of a place, as ``pagefmt.outstanding.state.load_place`` does; pages are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_place(place, locked=locked, inspect=inspect, vectors=RouteVectors())


def load_pages(place: DataLocation) -> PagingState:
    """Return the pages of a place without its message journal; they are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_pages(place, RouteVectors())


def watch_pages(place: DataLocation) -> PagesWatch:
    """Return a ``pagefmt.outstanding.watch.PagesWatch`` that reads pages in one pass."""
    from pagefmt.outstanding.watch import PagesWatch
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return PagesWatch(place, RouteVectors())
