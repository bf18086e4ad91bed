"""Reading and writing traces: every form gives the same operations back, and nothing but its own errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from generated import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pageengine.errors import PageEngineError
from pageengine.trace import operations as ops
from pageengine.trace.items import MalformedLine, SeqSet, TraceError
from pageengine.trace.operations import Operation, TraceHeader, UnknownOperation
from pageengine.trace.reading import TraceReader, open_trace
from pageengine.trace.writing import write_trace
from pagefmt.codec.messages.values import ValueKind

HEADER = b'{"trace":1,"name":"t"}\n'
SEND = b'{"t":5,"op":"send","address":"a","seq":%d}\n'
loose = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(60))

names = st.text(min_size=1, max_size=8)
sizes = st.integers(0, 1_073_741_821)
int64 = st.integers(-(2**63), 2**63 - 1)
naturals = st.integers(0, 2**63 - 1)
properties = st.one_of(
    st.tuples(st.just(ValueKind.STRING), st.text(max_size=8)),
    st.tuples(st.just(ValueKind.LONG), int64),
    st.tuples(st.just(ValueKind.INT), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just(ValueKind.BYTE), st.integers(-128, 127)),
    st.tuples(st.just(ValueKind.BOOLEAN), st.booleans()),
    st.tuples(st.just(ValueKind.NULL), st.none()),
    st.tuples(st.just(ValueKind.DOUBLE), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(ValueKind.FLOAT), st.floats(allow_nan=False, allow_infinity=False, width=32)),
    st.tuples(st.just(ValueKind.CHAR), st.characters(max_codepoint=0xFFFF)),
    st.tuples(st.just(ValueKind.BYTES), st.binary(max_size=8)),
)
bodies = st.one_of(
    st.just((None, None)), st.tuples(st.text(max_size=8), st.none()), st.tuples(st.none(), st.binary(max_size=8))
)


@st.composite
def sends(draw: st.DrawFn) -> Callable[[int, int], Operation]:
    text, body = draw(bodies)
    props = draw(st.dictionaries(names, properties, max_size=3))
    typed = ops.MessageProperties(ops.MessageProperty(name, kind, value) for name, (kind, value) in props.items())
    made = draw(
        st.builds(
            ops.Send,
            address=names,
            seq=st.just(0),
            session=names,
            type=st.sampled_from(ops.MessageType),
            size=sizes,
            text=st.just(text),
            body=st.just(body),
            durable=st.booleans(),
            priority=st.integers(0, 9),
            expire_ms=naturals,
            props=st.just(typed),
            note=st.none() | st.text(max_size=8),
        )
    )
    return lambda i, t: replace(made, seq=i, i=i, t=t)


others: st.SearchStrategy[Operation] = st.one_of(
    st.builds(ops.CreateAddress, names, st.sampled_from([ops.RoutingType.ANYCAST, tuple(ops.RoutingType)])),
    st.builds(ops.CreateQueue, names, names, st.sampled_from(ops.RoutingType), st.none() | names, st.booleans()),
    st.builds(ops.OpenSession, names, st.sampled_from(ops.SessionKind), st.sampled_from(ops.ClientProtocol)),
    st.builds(ops.OpenConsumer, names, names, names, st.none() | names, int64),
    st.builds(ops.Receive, names, naturals, st.sampled_from(ops.ReceiveAck)),
    st.builds(ops.Ack, names, st.just(ops.AckMode.INDIVIDUAL), int64 | st.lists(int64, max_size=3).map(tuple)),
    st.builds(ops.Ack, names, st.just(ops.AckMode.UPTO), int64),
    st.builds(ops.Ack, names, st.just(ops.AckMode.ALL)),
    st.builds(ops.Commit, names, st.none() | names, st.booleans(), st.booleans()),
    st.builds(ops.Browse, names, st.none() | names, st.none() | naturals, names),
    st.builds(ops.DiskSpaceChange, naturals, naturals, st.none() | names),
    st.just(ops.SettingsChange("a.#", (("max-size-bytes", "5M"), ("page-limit-bytes", "-1")))),
    st.builds(ops.Expire),
    st.just(ops.DiskFull(False)),
    st.builds(ops.Restart),
)
numbered_others = others.map(lambda made: lambda i, t: replace(made, i=i, t=t))
Made = tuple[Callable[[int, int], Operation], int]
traces = st.lists(st.tuples(sends() | numbered_others, st.integers(0, 1000)), max_size=12)


def numbered(made: list[Made]) -> list[Operation]:
    t = 0
    found = []
    for i, (make, step) in enumerate(made):
        t += step
        found.append(make(i, t))
    return found


def read(path: Path, **options: bool) -> tuple[TraceReader, list[object]]:
    reader = open_trace(path, **options)
    return reader, list(reader)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst", "t.parquet"])
@given(traces)
@loose
def test_what_is_written_reads_back(tmp_path: Path, name: str, made: list[Made]) -> None:
    operations = numbered(made)
    header = TraceHeader("t", start_ns=7, producer_window=-1)
    assert write_trace(tmp_path / name, header, operations) == len(operations)
    reader, found = read(tmp_path / name)
    assert reader.header == header
    assert found == operations
    assert reader.warnings == []


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.jsonl.zst", "t.parquet"])
def test_same_operations_same_bytes(tmp_path: Path, name: str) -> None:
    operations = [ops.Send("a", i, size=i, i=i, t=i) for i in range(100)]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_trace(tmp_path / folder / name, TraceHeader("t"), operations)
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_defaults_are_those_of_the_format(tmp_path: Path) -> None:
    lines = [
        b'{"op":"create_queue","queue":"q"}',
        b'{"op":"send","address":"q","seq":0}',
        b'{"op":"open_consumer","consumer":"c","queue":"q","selector":null}',
        b'{"op":"receive","consumer":"c"}',
        b'{"op":"settings","match":"#","max-size-bytes":5,"auto-delete-queues":false}',
    ]
    (tmp_path / "t").write_bytes(b'{"trace":1}\n\n' + b"\n".join(lines))
    reader, found = read(tmp_path / "t")
    assert reader.header == TraceHeader("t")
    assert found == [
        ops.CreateQueue("q", "q", i=0, t=0),
        ops.Send("q", 0, i=1, t=0),
        ops.OpenConsumer("c", "q", "c-c", i=2, t=0),
        ops.Receive("c", i=3, t=0),
        ops.SettingsChange("#", (("max-size-bytes", "5"), ("auto-delete-queues", "false")), i=4, t=0),
    ]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_magic_wins_over_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "t.jsonl").write_bytes(pack(HEADER + SEND % 0) + pack(SEND % 1))
    (tmp_path / "t.gz").write_bytes(HEADER + SEND % 0 + SEND % 1)
    assert len(read(tmp_path / "t.jsonl")[1]) == 2
    assert len(read(tmp_path / "t.gz")[1]) == 2


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_cut_compressed_stream_is_read_up_to_the_cut(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = pack(HEADER + b"".join(b'{"op":"send","address":"%x","seq":%d}\n' % (n * 7919**5, n) for n in range(9000)))
    (tmp_path / "t").write_bytes(whole[: len(whole) // 2])
    reader, found = read(tmp_path / "t")
    assert 0 < len(found) < 9000
    assert [one.i for one in found if isinstance(one, ops.Send)] == list(range(len(found)))
    assert len(reader.warnings) == 1 and "cut off" in reader.warnings[0]


def test_damaged_compression_is_an_error_with_its_place(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(HEADER + b"".join(SEND % n for n in range(5000))))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = bytes(40)
    (tmp_path / "t").write_bytes(whole)
    with pytest.raises(PageEngineError, match=r"damaged gzip stream near byte \d+"):
        read(tmp_path / "t", skip_bad_lines=True)


def test_a_cut_last_line_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(HEADER + SEND % 0 + b'{"op":"send","addr')
    reader, found = read(tmp_path / "t")
    assert len(found) == 1
    assert reader.warnings == [f"{tmp_path / 't'}: line 3 is cut off; everything before it was read"]


@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (bytes, "line 1 is cut off"),
        (gzip.compress, "the compressed stream is cut off in line 1"),
        (zstandard.compress, "the compressed stream is cut off in line 1"),
    ],
)
def test_a_file_that_is_cut_in_its_header_is_said_to_be_cut(
    tmp_path: Path, pack: Callable[[bytes], bytes], said: str
) -> None:
    for cut in (10, 15):
        (tmp_path / "t").write_bytes(pack(HEADER)[:cut])
        with pytest.raises(PageEngineError) as told:
            read(tmp_path / "t")
        assert str(told.value) == f"{tmp_path / 't'}: {said}, so that there is no header; nothing was replayed"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_malformed_line_is_not_excused_by_a_cut_behind_it(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "t").write_bytes(pack(HEADER + SEND % 0 + b'{"op":\n') + pack(b"x" * 99)[:10])
    with pytest.raises(PageEngineError, match="line 3: not JSON"):
        read(tmp_path / "t")


def test_a_last_line_without_newline_is_an_operation(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(HEADER + (SEND % 0).rstrip())
    assert len(read(tmp_path / "t")[1]) == 1


BAD_LINES = {
    b"{nope": "not JSON",
    b'{"op":"send"} x': "Extra data",
    b"\xff{}": "not UTF-8",
    b"[" * 100_000: "nested too deeply",
    b"[1]": "an operation must be an object",
    b'{"t":6}': "'op' is missing",
    b'{"op":7}': "'op' must be text",
    b'{"op":"send","seq":1}': "'address' is missing",
    b'{"op":"send","address":"a"}': "'seq' is missing",
    b'{"op":"send","address":"a","seq":0}': "'seq' 0 was used before",
    b'{"op":"send","address":"a","seq":1,"size":"9"}': "'size' must be a whole number, not text",
    b'{"op":"send","address":"a","seq":1,"size":true}': "'size' must be a whole number, not true or false",
    b'{"op":"send","address":"a","seq":1,"size":-1}': "'size' must be a whole number >= 0",
    b'{"op":"send","address":"a","seq":1.0}': "'seq' must be a whole number, not a number with a fraction",
    b'{"op":"send","address":"a","seq":9223372036854775808}': "'seq' must be a whole number <= 9223372036854775807",
    b'{"op":"send","address":"a","seq":1,"size":2147483648}': "'size' must be a whole number <= 2147483647",
    b'{"op":"send","address":"a","seq":1,"size":1073741822,"type":"text"}': "'size' must be at most 1073741821",
    b'{"op":"send","address":"a","seq":1,"size":1e400}': "'size' must be a whole number",
    b'{"op":"send","address":"a","seq":1,"size":NaN}': "NaN is not a JSON number",
    b'{"op":"send","address":"a","seq":1,"priority":10}': "'priority' must be a whole number <= 9",
    b'{"op":"send","address":"a","seq":1,"durable":1}': "'durable' must be true or false",
    b'{"op":"send","address":"a","seq":1,"type":"pdf"}': "'type' must be one of",
    b'{"op":"send","address":"a","seq":1,"type":null}': "'type' must be one of",
    b'{"op":"send","address":"a","seq":1,"text":"x","body_b64":""}': "cannot be combined",
    b'{"op":"send","address":"a","seq":1,"body_b64":"*"}': "not base64",
    b'{"op":"send","address":"a","seq":1,"props":[]}': "'props' must be an object",
    b'{"op":"send","address":"a","seq":1,"props":{"p":{"byte":128}}}': "property 'p' is not a byte: 128",
    b'{"op":"send","address":"a","seq":1,"props":{"p":{"char":"xx"}}}': "property 'p' is not a char: 'xx'",
    b'{"op":"send","address":"a","seq":1,"props":{"p":{"uuid":1}}}': "the keys byte, short, int, float, char, bytes",
    b'{"op":"send","address":"a","seq":1,"props":{"p":[1]}}': "property 'p' must be text, a number, true",
    b'{"op":"send","address":"a","seq":1,"props":{"p":1e999}}': "property 'p' is not a double: inf",
    b'{"op":"send","address":"a","seq":1,"t":4}': "'t' goes backwards: 4 after 5",
    b'{"op":"wait","t":"6","ms":1}': "'t' must be a whole number",
    b'{"op":"wait"}': "'ms' is missing",
    b'{"op":"ack","consumer":"c"}': "'seq' is missing",
    b'{"op":"ack","consumer":"c","seq":[1,2]}': "one whole number for mode upto",
    b'{"op":"prepare","session":"x"}': "'xid' is missing",
    b'{"op":"create_address","address":"a"}': "'routing' is missing",
    b'{"op":"create_address","address":"a","routing":"both"}': "'routing' must be one of anycast, multicast",
    b'{"op":"create_address","address":"a","routing":[]}': "'routing' must be one of anycast, multicast",
    b'{"op":"settings","match":"#","x":[]}': "must be text, a number or a truth value",
    b'{"op":"open_consumer","consumer":"c","queue":null}': "'queue' must be text, not null",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:60].decode("latin-1"))
def test_malformed_line(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "t").write_bytes(HEADER + SEND % 0 + b"\n" + line + b"\n" + SEND % 1)
    reader = open_trace(tmp_path / "t")
    seen = []
    with pytest.raises(TraceError) as caught:
        seen.extend(reader)
    assert str(caught.value).startswith(f"{tmp_path / 't'}: line 4: ")
    assert BAD_LINES[line] in str(caught.value)
    skipped = read(tmp_path / "t", skip_bad_lines=True)[1]
    assert [type(one) for one in skipped] == [ops.Send, MalformedLine, ops.Send]
    bad = skipped[1]
    assert isinstance(bad, MalformedLine) and (bad.i, bad.line) == (1, 4) and BAD_LINES[line] in bad.reason


def test_what_came_before_a_malformed_line_is_handed_out(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(HEADER + SEND % 0 + SEND % 1 + b"{}\n")
    seen = []
    with pytest.raises(TraceError):
        for one in open_trace(tmp_path / "t"):
            seen.append(one)
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"", "the header is missing"),
        (b"\n \n", "the header is missing"),
        (b"nope\n", "not JSON"),
        (b"[]\n", "the header is missing"),
        (SEND % 0, "the header is missing"),
        (b'{"trace":2}\n', "format version 2 is not understood"),
        (b'{"trace":"1"}\n', "'trace' must be a whole number"),
        (b'{"trace":1,"name":5}\n', "'name' must be text"),
        (b'{"trace":1', "line 1 is cut off, so that there is no header"),
    ],
)
def test_without_a_header_nothing_is_replayed(tmp_path: Path, head: bytes, reason: str) -> None:
    (tmp_path / "t").write_bytes(head + SEND % 0 if head.endswith(b"\n") else head)
    with pytest.raises(TraceError, match=reason):
        open_trace(tmp_path / "t", skip_bad_lines=True)


def test_unknown_keys_and_operations(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(
        b'{"trace":1,"host":"x"}\n{"op":"fly","x":1,"t":3}\n' + b'{"op":"wait","ms":1,"why":1,"note":"n"}\n' * 2
    )
    reader, found = read(tmp_path / "t")
    assert found == [
        UnknownOperation("fly", i=0, t=3),
        ops.Wait(1, i=1, t=3, note="n"),
        ops.Wait(1, i=2, t=3, note="n"),
    ]
    assert [warning.split(": ")[1] for warning in reader.warnings] == [
        "unknown key 'host' ignored, 1 time",
        "unknown key 'why' ignored, 2 times",
    ]


def test_windows_line_ends_and_progress(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes((HEADER + SEND % 0).replace(b"\n", b"\r\n"))
    told: list[int] = []
    assert len(list(open_trace(tmp_path / "t", advance=told.append))) == 1
    assert sum(told) == (tmp_path / "t").stat().st_size


@given(st.lists(st.integers(0, 12), max_size=30))
def test_a_seq_counts_once(numbers: list[int]) -> None:
    found, before = SeqSet(), set[int]()
    for number in numbers:
        assert found.add(number) == (number not in before)
        before.add(number)


@given(st.binary(max_size=300), st.sampled_from([b"", HEADER, b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"]))
@loose
def test_arbitrary_bytes_raise_only_own_errors(tmp_path: Path, tail: bytes, head: bytes) -> None:
    (tmp_path / "t").write_bytes(head + tail)
    try:
        list(open_trace(tmp_path / "t", skip_bad_lines=True))
    except PageEngineError as err:
        assert str(err).startswith(str(tmp_path))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
KEYS = ["op", "t", "address", "seq", "props", "queue", "consumer", "routing", "xid", "session", "mode", "match", "ms"]
OPS = ["send", "ack", "create_queue", "create_address", "receive", "settings", "commit", "disk", "wait"]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), json_values | st.sampled_from(OPS)), max_size=4))
@loose
def test_arbitrary_objects_give_one_item_each(tmp_path: Path, objects: list[dict[str, object]]) -> None:
    (tmp_path / "t").write_bytes(HEADER + b"".join(json.dumps(one).encode() + b"\n" for one in objects))
    found = read(tmp_path / "t", skip_bad_lines=True)[1]
    assert len(found) == len(objects)


@pytest.mark.parametrize(
    "columns",
    [
        {"op": ["wait"], "t": ["soon"]},
        {"op": ["send"], "address": ["a"], "seq": [1], "props": [{"k": 1}]},
        {"op": ["send"], "address": ["a"], "seq": [1], "body": ["text"]},
        {"op": ["send"], "address": ["a"], "seq": [1], "type": ["text"], "body": [b"\xff"]},
        {"op": ["wait"], "args": ["[1]"]},
        {"op": ["wait"], "args": ["nope"]},
        {"op": [None]},
        {"t": [1]},
    ],
)
def test_a_parquet_row_of_other_columns_or_types_is_malformed(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    table = pa.table(columns).replace_schema_metadata({"trace_header": '{"trace":1,"name":"t"}'})
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet", skip_bad_lines=True)[1]
    assert [type(one) for one in found] == [MalformedLine]
    with pytest.raises(TraceError, match="row 1: "):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("header", [None, "nope", "{}", '{"trace":9}'])
def test_parquet_without_a_header_is_refused(tmp_path: Path, header: str | None) -> None:
    table = pa.table({"op": ["checkpoint"]})
    pq.write_table(table.replace_schema_metadata({"trace_header": header} if header else {}), tmp_path / "t.parquet")
    with pytest.raises(TraceError, match="nothing was replayed"):
        open_trace(tmp_path / "t.parquet")
