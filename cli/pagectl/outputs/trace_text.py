"""A trace that was made from logs or from a history, as text."""

from __future__ import annotations

from pagectl.reports.replay import ReplayImport
from pagectl.terminal.streams import print_table
from pagefmt.quantities import count_text


def print_import(imported: ReplayImport) -> None:
    """Print how many operations the trace has, and what is not known about them."""
    is_history = imported.source in ("history", "journal")
    if imported.sends.left_out:
        left_out = f"{imported.sends.left_out} of {count_text(imported.sends.logged, 'send')} are left out of the trace"
        why = (
            "because their messages cannot be read"
            if is_history
            else "because the log does not describe their messages; use the message audit log, or the plugin's log at "
            "DEBUG"
        )
        print(f"{left_out}, {why}\n")
    operations = count_text(sum(imported.operations.values()), "operation")
    print(f"{imported.trace}: {operations} from the {imported.source}")
    print_table(("operation", "count"), imported.operations.items(), right=("count",))
    if imported.unknown:
        print("\nNot known for sure:")
        print_table(("what", "times"), imported.unknown.items(), right=("times",))
    print(f"\nNever in {'a journal' if is_history else 'such logs'}")
    for what in imported.never_known:
        print(f"  {what}")
