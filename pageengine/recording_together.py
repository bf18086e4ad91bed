"""What a recording keeps of sends that were decided together: the same as of each, seen one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pageengine.paged_sends import PagedSends
    from pageengine.recording import Recording
    from pageengine.replay_records import AddressRecord


def see_alike(recording: Recording, sends: PagedSends, rows: list[list[int]], times: list[int]) -> None:
    """Sends to a page that the queues of the address already have messages on."""
    count, last, t, i = len(rows), sends.line(rows[-1]), times[-1], rows[-1][0]
    record = recording.address(sends.address)
    recording.end = t
    recording.operations += count
    record.sends["paged"] += count
    recording.broker.sends["paged"] += count
    state = last["state"]
    record.state.update(state[f"a:{sends.address}"])
    _page_grows(recording, record, rows[0][0], times, [row[5] for row in rows])
    for one in sends.queues:
        fields = state[f"q:{one.name}"]
        queue = recording.queues[one.name]
        queue.state.update(fields)
        queue.messages.see(fields["n"], t, i)
        queue.paged.see(fields["paged_n"], t, i)
        held = recording.watches[queue.address].held[one.name]
        held.messages += count
        held.runs[-1][1] += count


def _page_grows(recording: Recording, record: AddressRecord, i: int, times: list[int], sizes: list[int]) -> None:
    """The page being written has these sizes after the operations from ``i`` on."""
    page, broker = record.state["cur"], recording.broker
    t, last = times[-1], i + len(sizes) - 1
    before = record.page_bytes[page]
    record.series.rising("disk", i, times, [record.disk_bytes - before + size for size in sizes])
    broker.series.rising("disk", i, times, [broker.disk_bytes - before + size for size in sizes])
    record.page_bytes[page] = sizes[-1]
    record.disk_bytes += sizes[-1] - before
    broker.disk_bytes += sizes[-1] - before
    record.disk.see(record.disk_bytes, t, last)
    broker.disk.see(broker.disk_bytes, t, last)
