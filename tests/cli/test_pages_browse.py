"""``pages browse`` and ``messages top --watch``: what is shown, what keys do, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase
from made_pages import message, store
from pagectl.running.backlogs import TopOrder
from pagectl.screens.app import FullScreen, ListScreen
from pagectl.screens.browser import OpenedPlace, RecordsScreen, StoresScreen
from pagectl.screens.listing import Listing
from pagectl.screens.top import TopScreen
from program import call, tree
from pseudo_terminal import Terminal
from textual.pilot import Pilot
from textual.widgets import Static

from pagefmt.directory.locate import locate

Play = Callable[[Pilot[int]], Awaitable[None]]


def played(first: Callable[[], ListScreen], play: Play, size: tuple[int, int] = (80, 24)) -> FullScreen:
    app = FullScreen(first)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await play(pilot)

    asyncio.run(run())
    return app


def browsed(path: Path, play: Play, size: tuple[int, int] = (80, 24)) -> FullScreen:
    return played(lambda: StoresScreen(OpenedPlace(locate(path))), play, size)


def shown(listing: Listing) -> list[str]:
    """Render the visible lines of a listing without trailing spaces."""
    return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]


async def until(pilot: Pilot[int], what: Callable[[], bool]) -> None:
    for _ in range(200):
        if what():
            return
        await pilot.pause(0.05)
    raise AssertionError(str(pilot.app.screen) + "\n".join(shown(pilot.app.screen.query_one("#list", Listing))))


def listing(pilot: Pilot[int], name: str = "list") -> Listing:
    return pilot.app.screen.query_one(f"#{name}", Listing)


def shown_text(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#said", Static).render())


async def into(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after another, each as soon as the level has rows."""
    for key in keys:
        await until(pilot, lambda: listing(pilot).count > 0)
        await pilot.press(key)
        await pilot.pause()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GoldenCase("2.56.0", "scattered-acks").copy(tmp_path_factory.mktemp("browse"))


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (30, 8)])
def test_from_addresses_down_to_bytes_and_back(data: Path, size: tuple[int, int]) -> None:
    before = tree(data)
    page = next(iter(call("pages", "decode", data, "--format", "jsonl").lines()))

    async def play(pilot: Pilot[int]) -> None:
        await into(pilot, "enter")
        await until(pilot, lambda: listing(pilot).count == len(list(data.rglob("*.page"))))
        await until(pilot, lambda: "…" not in "".join(shown(listing(pilot))))
        await into(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen)
        await until(pilot, lambda: screen.index.done and screen.opened.state is not None)
        first = str(screen._row(0))
        assert f"id {page['id']}" in first and ("waits for" in first or "acknowledged" in first)
        await pilot.press("enter")
        await until(pilot, lambda: screen.detail.has_focus and screen.detail.count > 5)
        lines = [str(screen.detail._row(n)) for n in range(screen.detail.count)]
        assert any("message id" in line and line.startswith("0000000f  00 ") for line in lines)
        await pilot.press("x")
        assert screen.detail.count < len(lines), "fields without their bytes"
        for _ in range(3):
            await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, StoresScreen))
        await pilot.press("q")

    app = browsed(data, play, size)
    assert app.return_code == 0 and tree(data) == before


def test_copy_is_the_line_of_decode(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(FullScreen, "copy_to_clipboard", lambda _self, text: copied.append(text))

    async def play(pilot: Pilot[int]) -> None:
        await into(pilot, "c", "enter", "c", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen)
        await until(pilot, lambda: screen.index.done and screen._known is not None)
        await pilot.press("down", "down", "c")

    browsed(data, play)
    folder, page, record = map(json.loads, copied)
    assert Path(folder["folder"]).is_dir() and Path(page["file"]).is_file()
    number = f"{page['page']}:{page['page']}"
    wanted = call("pages", "decode", data, "--page", number, "--format", "jsonl", "--body", "size,text").lines()[2]
    assert {key: record[key] for key in wanted if key != "body_error"} == {
        k: v for k, v in wanted.items() if k != "body_error"
    }


def test_search_in_names_and_in_bytes(tmp_path: Path) -> None:
    for n in range(30):
        pages = {k: b"".join(message(i, f"a.{n}", f"text {i}/{k}") for i in range(40)) for k in (1, 2)}
        store(tmp_path / "paging", f"a.{n}", pages, f"f{n:02}")

    async def search(pilot: Pilot[int], text: str) -> None:
        await pilot.press("slash")
        pilot.app.screen.query_one("#search").value = ""  # type: ignore[attr-defined]
        await pilot.press(*text.replace("/", " ").replace(" ", "~").replace("~", "/"), "enter")

    async def play(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: listing(pilot).count == 30)
        await search(pilot, "A.17")
        assert listing(pilot).cursor == 17
        await search(pilot, "nowhere")
        assert listing(pilot).cursor == 17 and "not in any row" in shown_text(pilot)
        await into(pilot, "enter", "down", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen) and screen.page.number == 2
        await until(pilot, lambda: screen.index.done)
        await search(pilot, "text/23/2")
        await until(pilot, lambda: "not in any later record" in shown_text(pilot))
        await search(pilot, "23/2")
        await until(pilot, lambda: listing(pilot).cursor == 23)
        await search(pilot, "0x7b0000")
        await until(pilot, lambda: listing(pilot).cursor == 24)
        await pilot.press("n")
        await until(pilot, lambda: listing(pilot).cursor == 25)
        await search(pilot, "0x7")
        assert "pairs" in shown_text(pilot)

    browsed(tmp_path, play)


def test_damage_is_shown_with_its_bytes(tmp_path: Path) -> None:
    records = [message(n, "a", f"text {n}") for n in range(5)]
    store(tmp_path / "paging", "a", {1: records[0] + b"\xff\x1b[2J" + b"".join(records[1:]), 2: b"", 3: bytes(500)})
    (tmp_path / "paging" / "bad").mkdir()

    async def play(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: listing(pilot).count == 2)
        assert any("no address.txt" in line for line in shown(listing(pilot)))
        await pilot.press("enter")
        await until(pilot, lambda: "zero-tail" in "".join(shown(listing(pilot))))
        assert "bad-start at offset" in shown(listing(pilot))[1]
        await pilot.press("enter")
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen)
        await until(pilot, lambda: screen.index.done and listing(pilot).count == 2)
        assert "4 whole records after it" in shown_text(pilot).replace("\n", " ")
        await pilot.press("end", "enter")
        await until(pilot, lambda: screen.detail.count > 10)
        lines = shown(screen.detail)
        assert "ff 1b 5b 32 4a" in lines[1] and "\x1b" not in "".join(lines)

    browsed(tmp_path, play)


def test_hostile_texts_and_pages_that_go_away(tmp_path: Path) -> None:
    evil = "e\x1b]0;x\x07[red]v\u202eil[/red]"
    folder = store(tmp_path / "paging", evil, {1: b"".join(message(n, evil, evil, {evil: evil}) for n in range(9))})

    async def play(pilot: Pilot[int]) -> None:
        drawn = []
        for _ in range(3):
            await until(pilot, lambda: listing(pilot).count > 0)
            drawn += shown(listing(pilot))
            drawn += [str(pilot.app.screen.query_one("#title", Static).render()), shown_text(pilot)]
            await pilot.press("enter")
            await pilot.pause(0.3)
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen)
        drawn += shown(screen.detail)
        assert any("[red]" in line for line in drawn), "markup is text"
        assert not any(char in "".join(drawn) for char in "\x1b\x07\u202e")
        await pilot.press("escape")
        (folder / "000000001.page").unlink()
        screen.listing.refresh()
        await pilot.pause()
        assert "cannot be read" in "".join(shown(screen.listing))
        await pilot.press("down", "enter", "c")

    browsed(tmp_path, play)


def test_a_record_too_large_to_be_taken_apart(tmp_path: Path) -> None:
    store(tmp_path / "paging", "a", {1: message(1, "a", "x" * (1 << 20)) + message(2, "a", "y")})

    async def play(pilot: Pilot[int]) -> None:
        await into(pilot, "enter", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, RecordsScreen)
        await until(pilot, lambda: screen.index.done)
        await pilot.press("enter")
        await until(pilot, lambda: screen.detail.count > 100_000)
        await pilot.press("end")
        assert "7d" in shown(screen.detail)[-1]

    browsed(tmp_path, play)


def test_resizing_shows_bytes_beside_the_list_where_there_is_room(data: Path) -> None:
    async def play(pilot: Pilot[int]) -> None:
        await into(pilot, "enter", "enter")
        screen: Any = pilot.app.screen
        await until(pilot, lambda: screen.index.done)
        for width, both in ((80, False), (200, True), (79, False), (160, True)):
            await pilot.resize_terminal(width, 30)
            await pilot.pause(0.1)
            assert (screen.listing.display and screen.detail.display) is both, width
        await pilot.press("tab")
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.1)
        assert screen.detail.display and not screen.listing.display

    browsed(data, play)


def test_top_sorts_grows_and_opens(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    other = GoldenCase("2.56.0", "large-core").copy(tmp_path / "other")
    places = [locate(data), locate(other)]

    async def play(pilot: Pilot[int]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, TopScreen)
        await until(pilot, lambda: len(screen.rows) > 1 and screen.rows[0].growth is not None)
        assert "GROWTH" in str(listing(pilot).head) and "BROKER" in str(listing(pilot).head)
        for key, order in zip("ahwog", TopOrder, strict=True):
            await pilot.press(key)
            assert screen.order is order and screen.rows == screen.seen.ranked(order)  # type: ignore[union-attr]
        (other / "journal").rename(tmp_path / "away")
        await until(pilot, lambda: "journal" in shown_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 3)
        await pilot.press("escape", "escape")

    app = played(lambda: TopScreen(places, TopOrder.alone, None, 0.1), play)
    assert app.return_code == 0


def test_top_goes_on_after_a_look_that_failed(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    place = locate(data)

    async def play(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: listing(pilot).count > 0)
        (data / "paging").rename(tmp_path / "away")
        await until(pilot, lambda: "cannot be listed" in shown_text(pilot))
        (tmp_path / "away").rename(data / "paging")
        await until(pilot, lambda: "of pages" in shown_text(pilot))

    played(lambda: TopScreen([place], TopOrder.alone, None, 0.1), play)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    made: list[Terminal] = []
    yield made
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("words", "first"),
    [(("pages", "browse"), "ADDRESS"), (("messages", "top", "--watch", "--every", "0.2"), "WAITING")],
    ids=str,
)
@pytest.mark.parametrize(("end", "status"), [("q", 0), ("\x03", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_terminal_is_put_back(
    data: Path, terminals: list[Terminal], words: tuple[str, ...], first: str, end: str | signal.Signals, status: int
) -> None:
    terminals.append(Terminal(80, 24, *words[:2], data, *words[2:]))
    one = terminals[0]
    one.until(first)
    one.resize(120, 30)
    one.type("jjkk")
    one.until("Quit")
    if isinstance(end, str):
        one.type(end)
    else:
        os.kill(one.process.pid, end)
    assert one.end() == status
    assert "Traceback" not in one.seen


@pytest.mark.parametrize("words", [("pages", "browse"), ("messages", "top", "--watch")], ids=str)
def test_without_a_terminal_it_says_what_to_use(data: Path, words: tuple[str, ...]) -> None:
    answer = call(*words[:2], data, *words[2:])
    assert (answer.status, answer.out) == (2, "") and "needs a terminal" in answer.err and "elsewhere use" in answer.err


def test_calls_that_make_no_sense(data: Path, tmp_path: Path) -> None:
    assert call("messages", "top", data, "--watch", "--format", "json").status == 2
    assert call("pages", "browse", tmp_path / "nowhere").status == 2


def test_without_textual(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("textual", "pagectl.screens."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    from pagectl.running.exits import CallError
    from pagectl.screens import starting

    monkeypatch.setattr(starting, "on_terminal", lambda: True)
    with pytest.raises(CallError, match="pip install 'textual"):
        starting.show("pages browse", "pages inspect", StoresScreen)  # type: ignore[arg-type]
