"""How many files of the product a call enters: files in which a function runs, except while a module is imported.

``python tests/rooms/count_files_entered.py pages decode tests/…/000000001.page`` prints the files and their number.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("pagefmt", "pageengine", "schemas/brokerconf", "cli/pagectl")


def files_entered(words: list[str]) -> list[str]:
    """Return the paths of the product's files in which a function ran, sorted.

    What the body of a module or class calls does not count: it runs once for a process, whichever call comes first.
    """
    from pagectl.app import run

    folders = tuple(f"{ROOT / room}/" for room in ROOMS)
    entered: set[str] = set()
    bottom = inspect.currentframe()

    def is_of_body(frame: FrameType | None) -> bool:
        # the code of functions is optimised, that of module and class bodies is not
        while frame is not None and frame is not bottom:
            if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
                return True
            frame = frame.f_back
        return False

    def note_call(frame: FrameType, event: str, arg: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(folders) and name not in entered and not is_of_body(frame):
            entered.add(name)

    content = io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.setprofile(note_call)
    try:
        with contextlib.redirect_stdout(content), contextlib.redirect_stderr(io.StringIO()):
            status = run(words)
    finally:
        sys.setprofile(None)
    assert status == 0, f"{words}: status {status}"
    return sorted(name.removeprefix(f"{ROOT}/") for name in entered)


if __name__ == "__main__":
    paths = files_entered(sys.argv[1:])
    print("\n".join(paths))
    print(len(paths), "files")
