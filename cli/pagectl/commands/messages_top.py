"""``messages top``: which queues fill the disk."""

from __future__ import annotations

from pagectl.opening.broker import Alone, located_each
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.history import refuse_history
from pagectl.options.shared import InOption
from pagectl.options.top import DirsArgument, TopOptions
from pagectl.outputs.top_text import show_top
from pagectl.reports.messages_top import HOLDERS
from pagectl.running.backlogs import look_with_growth
from pagectl.running.exits import Exit, report
from pagectl.screens.starting import watch_top
from pagectl.terminal.streams import warning
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("Which queues fill the disk", "messages top /var/lib/broker"),
    ("With the growth over two seconds", "messages top /var/lib/broker --every 2"),
)


def command(
    directories: DirsArgument = None,
    pace: TopOptions = TopOptions(),
    listed: ListOptions = ListOptions(),
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rank queues by the bytes on the disk that stay for their messages: pages, journal, large-message files.

    HOLDS: pages with a message for the queue, and its messages in the journal and in large-message files. ALONE: of
    these pages those that no other queue needs: draining the queue frees them, as whole pages ('queue drop' rewrites
    pages, so a copy without the queue is smaller by more). Queues that hold pages together are listed below with these
    pages. GROWTH: change of HOLDS between two readings (--every). --sort also takes held (the default), alone and
    waiting; text shows 20 queues unless --limit is given. Unknown values are ? (null) with the reason. Ends with status
    1 if something is damaged or not known, and with 2 if one of several DIRs cannot be read (the others are shown).
    """
    refuse_history(within)
    view = HOLDERS.view(listed)
    places, failed = located_each(directories or [], broker, alone=Alone.MESSAGES)
    if pace.watch:
        return watch_top(places, failed, listed, within, pace.every or 5.0)
    ranking = look_with_growth(places, within, pace.every)
    failed += ranking.failed
    for remark in ranking.remarks:
        warning(remark)
    for reason in failed:
        report(reason)
    if not view.as_text or len(failed) < max(1, len(directories or [])):
        show_top(ranking, failed, view)
    return Exit.FAILED if failed else Exit.FOUND if ranking.wrong else Exit.OK
