"""What ``pages salvage`` has rescued of damaged pages, and what is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from pagefmt.change.salvage.directory import SalvagedDirectory
    from pagefmt.change.salvage.store import Loss, SalvagedStore


class LostBounds(Report):
    """A number of messages that is not certain."""

    at_least: Count
    at_most: Count


class LostBytes(Report):
    """Bytes of a file from which no message could be read."""

    file: str
    start: Count
    end: Count
    detail: str
    messages: Count | None
    """Messages that these bytes were; null if that is not certain."""
    ids: list[int]
    """Ids of these messages as far as they can be read."""

    @classmethod
    def of(cls, loss: Loss) -> LostBytes:
        """Return the report of a loss."""
        return cls(
            file=loss.file,
            start=loss.start,
            end=loss.end,
            detail=loss.detail,
            messages=loss.fewest if loss.fewest == loss.most else None,
            ids=[loss.message] if loss.message else [],
        )


class RescuedStore(Report):
    """A store that was damaged, set aside or orphaned, as it is in the new directory."""

    folder: str
    address: str | None
    """Null if it is not known; it has to be written before a broker reads the folder."""
    address_from_records: bool
    """Whether the folder named no address, or one that its messages are not for."""
    merged: list[str]
    """Folders of the same address whose messages are in this one now."""
    damaged: list[str]
    kept: Count
    """Messages that stay where they are."""
    mended: Count
    """Kept messages whose frame was repaired."""
    rescued: Count
    """Messages in new pages."""
    already_there: Count
    """Messages that were left out because the store has their ids elsewhere."""
    new_pages: list[str]
    delivered_again: Count | None
    """Rescued messages that were acknowledged at positions that are lost; null if that is not known."""
    lost_messages: LostBounds | Count
    lost: list[LostBytes]
    remarks: list[str]

    @classmethod
    def of(cls, store: SalvagedStore, lost: list[str]) -> RescuedStore:
        """Return the report of a store. ``lost``: what is missing from the journals."""
        fewest, most = store.lost
        return cls(
            folder=store.folder,
            address=store.address,
            address_from_records=store.readdressed,
            merged=store.merged,
            damaged=store.damaged,
            kept=store.kept,
            mended=store.mended,
            rescued=store.rescued,
            already_there=store.repeated,
            new_pages=store.new_pages,
            delivered_again=store.delivered_again,
            lost_messages=fewest if fewest == most else LostBounds(at_least=fewest, at_most=most),
            lost=[LostBytes.of(loss) for loss in store.losses],
            remarks=[*store.remarks, *lost],
        )


class PagesSalvage(Report):
    """``pages salvage --format json``: the new paging directory."""

    out: str
    """NEW as it was named."""
    wrote: str
    """Path of NEW."""
    copied: Count
    """Stores without damage, copied unchanged."""
    stores: list[RescuedStore]

    @classmethod
    def of(cls, salvaged: SalvagedDirectory, out: Path, lost: list[str]) -> PagesSalvage:
        """Return the report of a new directory. ``lost``: what is missing from the journals."""
        stores = [RescuedStore.of(store, lost) for store in salvaged.stores]
        return cls(out=str(out), wrote=str(out.absolute()), copied=salvaged.copied, stores=stores)


ANSWERS = {"pages-salvage": PagesSalvage}
