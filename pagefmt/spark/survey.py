"""What a broker has to be read, and what has to be told of it: found out in a task of its own, journals and all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pagefmt.bytes.far_paths import archive_now, share_archive
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.privacy import private_mode
from pagefmt.errors import PageFmtError
from pagefmt.spark.groups import Piece, pieces_of
from pagefmt.spark.options import TableSpec
from pagefmt.spark.rows import Remark, opened


class BrokerSurvey(NamedTuple):
    """Of one broker. ``wrong``: something is damaged or not known. ``mode``: rights of what is made of its pages.

    ``failed``: why it cannot be read; there are no pieces then.
    """

    broker: str
    pieces: tuple[Piece, ...] = ()
    remarks: tuple[Remark, ...] = ()
    wrong: bool = False
    mode: int = 0o666
    failed: str | None = None


def surveyed(broker: FleetBroker, spec: TableSpec) -> BrokerSurvey:
    """Never raises for what cannot be read. Of journals nothing is kept but what is wrong with them."""
    try:
        broker = replace(broker, archive=archive_now(broker.place.given))
        found = opened(broker, spec.run)
        broker = replace(broker, unpacked=share_archive(broker.place.given))
        stores = found.stores.values()
        unknown = any(each.not_known("") is not None for each in stores)
        pieces = tuple(pieces_of(broker, (each.store for each in stores), spec.content, spec.within))
        remarks = tuple(found.remarks(spec))
        wrong = unknown or any(not each.missing for each in remarks)
        return BrokerSurvey(broker.name, pieces, remarks, wrong, private_mode(broker.place))
    except (PageFmtError, OSError) as err:
        return BrokerSurvey(broker.name, failed=str(err), wrong=True)


def remarks_of(found: BrokerSurvey, *, alone: bool) -> Iterator[Remark]:
    """With the broker's name in front where it is one of several."""
    for each in found.remarks:
        yield each if alone else each._replace(text=f"{found.broker}: {each.text}")
