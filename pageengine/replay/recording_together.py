"""What a recording keeps of sends that were decided together: the same as of each, seen one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pageengine.replay.recording import Recording
    from pageengine.replay.records import AddressRecord
    from pageengine.running.paged_sends import PagedSends


def see_alike(recording: Recording, sends: PagedSends, first: int, last: dict[str, Any]) -> None:
    """The sends from number ``first`` on; their queues have messages on the page. ``last``: the last one's line."""
    count, t, i = len(sends) - first, int(sends.run.t[-1]), last["i"]
    record = recording.address(sends.address)
    recording.end = t
    recording.operations += count
    record.sends["paged"] += count
    recording.broker.sends["paged"] += count
    state = last["state"]
    record.state.update(state[f"a:{sends.address}"])
    times, sizes = sends.run.t[first:].tolist(), sends.page_bytes[first:].tolist()
    _page_grows(recording, record, i - count + 1, times, sizes)
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
    record.series.rising("disk", i, times, sizes, record.disk_bytes - before)
    broker.series.rising("disk", i, times, sizes, broker.disk_bytes - before)
    record.page_bytes[page] = sizes[-1]
    record.disk_bytes += sizes[-1] - before
    broker.disk_bytes += sizes[-1] - before
    record.disk.see(record.disk_bytes, t, last)
    broker.disk.see(broker.disk_bytes, t, last)
