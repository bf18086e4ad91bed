"""``pages outstanding``: what is not yet acknowledged, and who keeps the disk full."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.editions import EditionOption
from pagectl.exits import Exit
from pagectl.location import BrokerXmlOption, DirArgument, located
from pagectl.progress import progress
from pagectl.reading import bytes_to_read
from pagectl.sanitise import one_line
from pagectl.streams import CsvTable, json_text, note, print_table, size_text

if TYPE_CHECKING:
    from pagefmt.outstanding import QueueLoad, State, StoreSummary

CSV_COLUMNS = ("address", "folder", "queue", "id", "messages", "bytes", "first_page", "last_page", "pages_held")
HOLDERS_SHOWN = 8
"""Runs of pages with the same holders that the text shows for an address."""


class OutstandingFormat(StrEnum):
    text = "text"
    json = "json"
    csv = "csv"
