"""The pieces of a broker to read, and remarks about it, found in a task of its own that reads the journals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.privacy import private_mode
from pagefmt.errors import PageFmtError
from pagefmt.spark.groups import Piece, pieces_of
from pagefmt.spark.options import TableSpec
from pagefmt.spark.rows import Remark, opened
from pagefmt.storage.remote_paths import archive_now, share_archive


class BrokerSurvey(NamedTuple):
    """The survey of one broker. ``wrong``: something is damaged or not known. ``mode``: of files made from its pages.

    ``failed``: why it cannot be read; then there are no pieces.
    """

    broker: str
    pieces: tuple[Piece, ...] = ()
    remarks: tuple[Remark, ...] = ()
    wrong: bool = False
    mode: int = 0o666
    failed: str | None = None


def surveyed(broker: FleetBroker, spec: TableSpec) -> BrokerSurvey:
    """Return the pieces and remarks of a broker. A broker that cannot be read is reported, not raised.

    Of its journals only the faults are kept.
    """
    try:
        broker = replace(broker, archive=archive_now(broker.place.given))
        opened_broker = opened(broker, spec.run)
        broker = replace(broker, unpacked=share_archive(broker.place.given))
        stores = opened_broker.stores.values()
        unknown = any(item.not_known("") is not None for item in stores)
        pieces = tuple(pieces_of(broker, (item.store for item in stores), spec.content, spec.within))
        remarks = tuple(opened_broker.remarks(spec))
        wrong = unknown or any(not item.missing for item in remarks)
        return BrokerSurvey(broker.name, pieces, remarks, wrong, private_mode(broker.place))
    except (PageFmtError, OSError) as err:
        return BrokerSurvey(broker.name, failed=str(err), wrong=True)


def remarks_of(broker_survey: BrokerSurvey, *, alone: bool) -> Iterator[Remark]:
    """Yield the remarks, each after the broker's name unless it is the only one."""
    for remark in broker_survey.remarks:
        yield remark if alone else remark._replace(text=f"{broker_survey.broker}: {remark.text}")
