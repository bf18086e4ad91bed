"""Every reader of a file or of a text has a limit: whatever it is given, it ends soon, with one line at most.

Sizes are such that a reader whose time grows with their square would take minutes to hours.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from brokerconf.checks.ignore_comments import MOST_FAULTS
from brokerconf.linting.project_file import PathSettings
from brokerconf.reading.building import MOST_ATTRIBUTES
from golden_cases import cases, spread
from hypothesis import given
from hypothesis import strategies as st
from program import Answer, forked

from pageengine.trace.items import HEADER_NAME
from pageengine.trace.parquet import SCHEMA

MANY = 300_000
CORE = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core></configuration>'
TRACE = '{"trace":1,"name":"a"}\n'


def answer(*words: str | Path) -> Answer:
    """Call pagectl in a process that is ended after a minute."""
    found = forked(*words, seconds=60)
    assert "internal error" not in found.err and "Traceback" not in found.err, found.err[-2000:]
    assert found.status in (0, 1, 2, 3), (found.status, found.err[-2000:])
    return found


# By reader: how its file begins and ends around a value, the suffix, what opens a nested value and what closes it, and
# the call, in which "FILE" stands for the path.
READERS: dict[str, tuple[str, str, str, str, str, tuple[str, ...]]] = {
    "xml": (CORE.format("<name>").partition("</core>")[0], "</name></core></configuration>", ".xml", "<a>", "</a>",
            ("config", "lint", "FILE")),
    "xml attribute": (CORE.format('<name a="').partition("</core>")[0], '">a</name></core></configuration>', ".xml",
                      "${a:", "}", ("config", "lint", "FILE")),
    "xml comment": (CORE.format("<!-- pagectl: ignore a").partition("</core>")[0], "x --></core></configuration>",
                    ".xml", "a,", "", ("config", "lint", "FILE")),
    "properties key": ("name=a\n", "=1\n", ".properties", "a.", "", ("config", "lint", "FILE")),
    "properties value": ("name=a\nglobalMaxSize=", "x\n", ".properties", "${a:", "}", ("config", "lint", "FILE")),
    "properties comment": ("name=a\n# pagectl: ignore a", "x\n", ".properties", "a,", "", ("config", "lint", "FILE")),
    "json": ('{"name":"a","globalMaxSize":', "}", ".json", '{"a":', "}", ("config", "lint", "FILE")),
    "yaml": ("name: a\nglobalMaxSize: ", "\n", ".yaml", "[", "]", ("config", "lint", "FILE")),
    "yaml text": ("name: a\nglobalMaxSize: 1", "x\n", ".yaml", "{a: ", "}", ("config", "effective", "FILE")),
    "yaml comment": ("name: a\n# pagectl: ignore a", "x\n", ".yaml", "a,", "", ("config", "lint", "FILE")),
    "custom resource": ("apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata:\n  name: a\nspec:\n"
                        "  deploymentPlan:\n    size: ", "\n", ".yaml", "{a: ", "}", ("config", "lint", "FILE")),
    "project file": ("heap = ", "\n", "pagectl.toml", "[", "]", ("config", "lint", "FILE")),
    "project file's edition": ("edition = 0x", "\n", "pagectl.toml", "[", "]", ("config", "lint", "FILE")),
    "pattern": ('[[per-path]]\nignore = ["drop-policy"]\npath = "', 'x"\n', "pagectl.toml", "**/", "",
                ("config", "lint", "FILE")),
    "baseline": ('{"version":1,"findings":', "}", ".json", "[", "]",
                 ("config", "lint", "CONFIGURATION", "--baseline", "FILE")),
    "trace": (f'{TRACE}{{"op":"tick","t":', "}\n", ".jsonl", "[", "]",
              ("replay", "run", "FILE", "--config", "CONFIGURATION")),
    "trace's selector": (f'{TRACE}{{"op":"create_queue","queue":"q","address":"q","filter":"a = ', '"}\n', ".jsonl",
                         "(", ")", ("replay", "run", "FILE", "--config", "CONFIGURATION")),
    "outcome": ('{"outcome":1,"a":', "}\n", ".jsonl", "[", "]", ("replay", "compare", "FILE", "FILE")),
    "log": ("2026-01-01 00:00:00,000 INFO  [x] AMQ843000: sent message with ID: ", ", session name: a\n", ".log",
            "[", "]", ("replay", "import", "FILE", "--to", "NEW")),
    "seal": ('{"pagectl_seal":1}\n{"file":"a","size":', ',"crc32c":"00000000"}\n', ".seal", "[", "]",
             ("pages", "verify", "DATA", "--manifest", "FILE")),
    "samples": ('{"samples":', "}", ".json", "[", "]", ("disk", "forecast", "DATA", "--state", "FILE")),
    "list of brokers": ("name,path,edition\na,", "\n", ".csv", '"', '"',
                        ("export", "--brokers", "FILE", "--to", "NEW")),
    "journal xml": ('<?xml version="1.0"?><activemq-journal><messages><message id="',
                    '"/></messages></activemq-journal>', ".xml", "<a>", "</a>", ("messages", "xml", "FILE")),
}  # fmt: skip
SHAPES: dict[str, Callable[[str, str], str]] = {
    "digits": lambda *_: "9" * MANY,
    "a few thousand digits": lambda *_: "9" * 5000,
    "zeros": lambda *_: "0" * MANY,
    "blanks": lambda *_: " " * MANY,
    "lines": lambda *_: "\n" * MANY,
    "letters": lambda *_: "a" * MANY,
    "dots": lambda *_: "a." * (MANY // 2),
    "open": lambda opens, _: opens * 20_000,
    "nested": lambda opens, closes: opens * 20_000 + closes * 20_000,
    "NUL": lambda *_: "a\0b",
    "half a character": lambda *_: "\ud800",
    "exponent": lambda *_: f"1e{'9' * 30}",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Create a sound configuration and a sound data directory, keyed by their placeholders in calls."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "broker.xml").write_text(CORE.format("<name>a</name>"))
    case = next(case for case in cases("2.56.0") if case.name == "basic")
    return {"CONFIGURATION": folder / "broker.xml", "DATA": case.copy(folder / "data")}


def words_of(reader: str, folder: Path, places: dict[str, Path]) -> tuple[Path, list[str | Path]]:
    """Return the path of the file that the reader reads, and the words of its call."""
    *_, suffix, _, _, call = READERS[reader]
    path = folder / (suffix if not suffix.startswith(".") else f"given{suffix}")
    named = path
    if suffix == "pagectl.toml":
        named = folder / "broker.xml"
        named.write_text(CORE.format("<name>a</name>"))
    known = {**places, "FILE": named, "NEW": folder / "new"}
    return path, [known.get(word, word) for word in call]


@pytest.mark.parametrize(("reader", "shape"), spread(product(READERS, SHAPES), 19))
def test_no_shape_hangs_or_fails_a_reader(reader: str, shape: str, tmp_path: Path, places: dict[str, Path]) -> None:
    before, behind, _, opens, closes, _ = READERS[reader]
    path, words = words_of(reader, tmp_path, places)
    path.write_bytes((before + SHAPES[shape](opens, closes) + behind).encode("utf-8", "surrogatepass"))
    answer(*words)


@pytest.mark.parametrize("reader", READERS)
def test_a_link_that_names_itself_is_no_file(reader: str, tmp_path: Path, places: dict[str, Path]) -> None:
    path, words = words_of(reader, tmp_path, places)
    path.symlink_to(path.name)
    found = answer(*words)
    assert path.name == "pagectl.toml" or (found.status and len(found.err.splitlines()) <= 2), found.err


@pytest.mark.parametrize("reader", spread(READERS, 8))
def test_a_huge_file_is_refused_or_read(reader: str, tmp_path: Path, places: dict[str, Path]) -> None:
    path, words = words_of(reader, tmp_path, places)
    path.touch()
    with path.open("r+b") as file:
        file.truncate(100 << 20)
    answer(*words)


# Globs of two letters and all wildcards, on paths of the same letters.
GLOBS = st.lists(st.sampled_from(["a", "b", "*", "?", "/", "**/", "/**/", "**"]), min_size=1, max_size=7).map("".join)
FILES = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


def matches_slowly(glob: str, file: str) -> bool:
    """Match a glob by its definition, trying every length for each wildcard, in exponential time."""
    if not glob:
        return not file or file.startswith("/")
    for wildcard, able in (("**", lambda _: True), ("*", lambda taken: "/" not in taken)):
        if glob.startswith(wildcard):
            rest = glob[len(wildcard) :]
            return any(able(file[:end]) and matches_slowly(rest, file[end:]) for end in range(len(file) + 1))
    same = file[:1] == glob[0] or (glob[0] == "?" and file[:1] not in ("", "/"))
    return same and matches_slowly(glob[1:], file[1:])


def matches_by_definition(glob: str, file: str) -> bool:
    """Match as ``matches_slowly`` does, with ``**/`` at the start of a name as whole folders or nothing."""
    for at in range(len(glob)):
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            return matches_by_definition(glob[:at] + glob[at + 3 :], file) or matches_by_definition(
                f"{glob[:at]}**\0/{glob[at + 3 :]}", file
            )
    return matches_slowly(glob.replace("\0", ""), file)


@given(GLOBS, FILES)
def test_a_pattern_fits_what_its_definition_says(glob: str, file: str) -> None:
    assert PathSettings(glob).fits(file) == matches_by_definition(glob.strip("/"), file)


@pytest.mark.parametrize("wildcard", ["**/", "*", "**", "?*", "*a", "**/*a", "a**"])
def test_a_pattern_of_many_wildcards_ends(wildcard: str, tmp_path: Path) -> None:
    folder = tmp_path / "/".join("a" * 60)
    folder.mkdir(parents=True)
    (folder / f"{'a' * 240}.xml").write_text(CORE.format("<name>a</name>"))
    pattern = wildcard * (900 // len(wildcard))
    (tmp_path / "pagectl.toml").write_text(f'[[per-path]]\npath = "{pattern}x"\nignore = ["drop-policy"]\n')
    assert answer("config", "lint", tmp_path).status == 0


@pytest.mark.parametrize("form", ["xml", "properties", "yaml"])
def test_ignore_comments_cost_what_they_are_long(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"broker.{form}"
    comment = "pagectl: ignore drop-policy, unknown-{}"
    if form == "xml":
        path.write_text(CORE.format("".join(f"<a{n}/><!-- {comment.format(n)} -->" for n in range(5_000))))
    else:
        lines = "".join(f"{' ' * (n % 500)}# {comment.format(n)} \\\n" for n in range(5_000))
        path.write_text(f"name{'=' if form == 'properties' else ': '}a\n{lines}")
    assert answer("config", "lint", path).out.count("is not a rule") == MOST_FAULTS


def test_attributes_are_counted_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    attributes = " ".join(f'a{n}="x"' for n in range(200_000))
    path.write_text(CORE.format(f"<name {attributes}>a</name>"))
    assert f"more than {MOST_ATTRIBUTES} attributes" in answer("config", "lint", path).out


@pytest.mark.parametrize(
    "command",
    [
        ("pages", "seal", "DATA", "--to", "LINK"),
        ("messages", "xml", "DATA", "--to", "LINK"),
        ("pages", "verify", "DATA", "--manifest", "LINK"),
        ("pages", "compact", "DATA", "--out", "LINK/x"),
        ("messages", "decode", "LINK"),
        ("pages", "ls", "LINK"),
        ("recover", "DATA", "--out", "LINK"),
        ("config", "lint", "LINK"),
        ("config", "lint", "CONFIGURATION", "--baseline", "LINK"),
        ("config", "effective", "LINK/broker.xml"),
        ("replay", "run", "LINK", "--config", "CONFIGURATION"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_link_that_names_itself_is_one_line(
    command: tuple[str, ...], tmp_path: Path, places: dict[str, Path]
) -> None:
    link = tmp_path / "link"
    link.symlink_to("link")
    known = {**places, "LINK": link, "LINK/x": link / "x", "LINK/broker.xml": link / "broker.xml"}
    found = answer(*(known.get(word, word) for word in command))
    assert found.status and str(link) in found.err + found.out, found


def test_a_folder_with_links_to_nothing_is_linted(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(CORE.format("<name>a</name>"))
    (tmp_path / "loop.xml").symlink_to("loop.xml")
    (tmp_path / "gone.xml").symlink_to("absent")
    found = answer("config", "lint", tmp_path, "--show-files")
    assert found.status == 0 and found.err.count("a link to nothing") == 2, found.err


@pytest.mark.parametrize("where", ["x = DIGITS", "x = 0xDIGITS", "x = 0DIGITS", "x = -DIGITSL", "x = DIGITS.5 + y"])
@pytest.mark.parametrize("digits", [400, 5_000, 100_000])
def test_a_selector_with_a_long_number(where: str, digits: int, places: dict[str, Path]) -> None:
    found = answer("messages", "find", places["DATA"], "--where", where.replace("DIGITS", "7" * digits))
    assert found.status in (0, 1) or "digits" in found.err or "too large" in found.err, found.err[-300:]


@pytest.mark.parametrize("piece", ["/*", "--a", "'", "''", '"', "(", "- ", "NOT "])
def test_a_selector_of_one_piece(piece: str, places: dict[str, Path]) -> None:
    answer("messages", "find", places["DATA"], "--where", "a = " + piece * (120_000 // len(piece)))


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_a_trace_of_blank_lines_is_refused(pack: str, tmp_path: Path, places: dict[str, Path]) -> None:
    path = tmp_path / "trace.jsonl"
    lines = TRACE.encode() + b"\n" * (20 << 20)
    path.write_bytes(gzip.compress(lines, 1) if pack == "gzip" else zstandard.compress(lines))
    found = answer("replay", "run", path, "--config", places["CONFIGURATION"])
    assert found.status == 2 and "of blank lines" in found.err, found.err


def odd_columns() -> dict[str, pa.Array]:
    """Return columns of types that no trace has, by name."""
    return {
        "time": pa.array([2**62], pa.timestamp("ms")),
        "date": pa.array([2**62], pa.date64()),
        "list": pa.array([[1]]),
        "struct": pa.array([{"a": 1}]),
        "binary": pa.array([b"\xff"]),
        "decimal": pa.array([Decimal(1)]),
        "null": pa.nulls(1),
        "duration": pa.array([2**62], pa.duration("s")),
        "text": pa.array(["9" * 5000]),
        "map": pa.array([[(1, 2)]], pa.map_(pa.int64(), pa.int64())),
    }


@pytest.mark.parametrize("kind", odd_columns())
def test_a_trace_of_odd_columns(kind: str, tmp_path: Path, places: dict[str, Path]) -> None:
    for name in SCHEMA.names:
        table = pa.table({"op": pa.array(["tick"]), name: odd_columns()[kind]})
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table.replace_schema_metadata({HEADER_NAME: TRACE.strip()}), path)
        answer("replay", "run", path, "--config", places["CONFIGURATION"])


@pytest.mark.parametrize(
    "option",
    [
        ("messages", "find", "DATA", "--since"),
        ("pages", "ls", "DATA", "--page"),
        ("disk", "check", "DATA", "-w"),
        ("disk", "check", "DATA", "--max-disk-usage"),
        ("disk", "check", "DATA", "--min-disk-free"),
        ("disk", "check", "DATA", "--timeout"),
        ("messages", "check", "DATA", "-w"),
        ("messages", "ls", "DATA", "--queue"),
        ("journal", "inspect", "DATA", "--type"),
        ("config", "capacity", "CONFIGURATION", "--heap"),
        ("pages", "inspect", "DATA", "--record"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("digits", [20, 5_000])
def test_an_option_with_a_long_number(option: tuple[str, ...], digits: int, places: dict[str, Path]) -> None:
    for value in ("DIGITS", "DIGITSd", "DIGITSG", "DIGITS:", "oldest=DIGITSd", "bytes=DIGITSG", "1eDIGITS", "-DIGITS"):
        answer(*(places.get(word, word) for word in option), value.replace("DIGITS", "9" * digits))
