"""``pagectl replay``: statuses, streams and files of its commands, on scenarios that real brokers were asked."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pagectl.app import run
from replay_scenarios import protocol_recordings, scenarios

from pagefmt.editions import NEWEST

HERE = Path(__file__).parents[1]
ARCHIVE = HERE / "recorded" / "replays" / "broker-2.56.0.tar.xz"
LOGS = HERE / "recorded" / "replays" / "traffic-logs"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def replay(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["replay", *map(str, words)])
        told = capfd.readouterr()
        assert "Traceback" not in told.err
        return status, told.out, told.err

    return replay


def laid_out(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """Write broker.xml, trace and recorded outcome of a scenario as files, and return their paths."""
    scenario = scenarios(ARCHIVE)[name]
    files = folder / "broker.xml", folder / "trace.jsonl", folder / "outcome.jsonl"
    for path, content in zip(files, (scenario.config, scenario.trace, scenario.outcome), strict=True):
        path.write_bytes(content)
    return files


def test_run_decides_as_the_real_broker(tmp_path: Path, call: Call) -> None:
    config, trace, theirs = laid_out(tmp_path, "page-limit-bytes-fail")
    ours = tmp_path / "ours.jsonl.gz"
    status, out, err = call("run", trace, "--config", config, "--outcome", ours)
    assert status == 0, err
    assert "address a refused 21 messages" in out
    assert "operations a second" in err
    assert gzip.decompress(ours.read_bytes()).count(b"\n") == 110
    assert call("compare", ours, theirs)[:2] == (0, "equal: 108 operations\n")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("stomp-fail", "address a refused 10 messages (10 connection dropped)"),
        ("amqp-fail", "address a refused 2 messages"),
        ("openwire-async-block", "address a was full once"),
        ("mqtt-block", "went to memory all the same"),
        ("mqtt5-fail", "address a refused 4 messages (4 connection dropped)"),
    ],
)
def test_run_shows_what_clients_of_other_protocols_see(tmp_path: Path, call: Call, name: str, told: str) -> None:
    _, scenario = protocol_recordings(ARCHIVE.with_name("protocols.tar.xz"))[f"{name}/2.56.0"]
    config, trace, ours = tmp_path / "broker.xml", tmp_path / "trace.jsonl", tmp_path / "ours.jsonl"
    config.write_bytes(scenario.config)
    trace.write_bytes(scenario.trace)
    assert call("run", trace, "--config", config, "--outcome", ours)[0] == 0
    lines = [json.loads(line) for line in ours.read_text("utf-8").splitlines()]
    assert lines[0]["state"]["g"]["connections"] == 0
    assert [one.get("r") for one in lines[1:-1]] == [
        json.loads(line)["r"] for line in scenario.outcome.splitlines()[1:-1]
    ]
    assert call("compare", ours, ours)[:2] == (0, f"equal: {len(lines) - 2} operations\n")
    status, out, _ = call("run", trace, "--config", config, "--format", "json")
    assert (status, told in str(json.loads(out)["findings"])) == (0, True)


@pytest.mark.parametrize("name", ["amqp-page", "openwire-page", "stomp-page", "mqtt-page-limit-drop"])
def test_run_writes_what_clients_of_other_protocols_sent(
    tmp_path: Path, call: Call, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    _, scenario = protocol_recordings(ARCHIVE.with_name("protocols.tar.xz"))[f"{name}/2.56.0"]
    config, trace, data = tmp_path / "broker.xml", tmp_path / "trace.jsonl", tmp_path / "data"
    config.write_bytes(scenario.config)
    trace.write_bytes(scenario.trace)
    assert call("run", trace, "--config", config, "--until", 14, "--out", data)[0] == 0
    assert run(["pages", "verify", str(data)]) == 0
    capfd.readouterr()
    assert run(["pages", "ls", str(data), "--format", "json"]) == 0
    at_the_broker = json.loads(scenario.outcome.splitlines()[15])["state"]["a:a"]["pages"]
    assert json.loads(capfd.readouterr().out)["stores"][0]["pages"] == at_the_broker > 1


def test_run_writes_large_messages_of_amqp_clients(
    tmp_path: Path, call: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    _, scenario = protocol_recordings(ARCHIVE.with_name("protocols.tar.xz"))["amqp-large-block/2.56.0"]
    config, trace, data = tmp_path / "broker.xml", tmp_path / "trace.jsonl", tmp_path / "data"
    config.write_bytes(scenario.config)
    trace.write_bytes(scenario.trace)
    assert call("run", trace, "--config", config, "--set", "#:address-full-policy=PAGE", "--out", data)[0] == 0
    assert run(["pages", "verify", str(data)]) == 0, capfd.readouterr().out
    assert list((data / "large-messages").iterdir())


def test_run_as_json_with_a_setting_by_hand(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    status, out, _ = call(
        "run",
        trace,
        "--config",
        config,
        "--format",
        "json",
        "--set",
        "#:max-size-bytes=1M",
        "--set",
        "global-max-size=2M",
    )
    found: dict[str, Any] = json.loads(out)
    assert status == 0
    assert found["addresses"]["a"]["sends"] == {"queued": 54}
    assert found["settings"]["a"]["max-size-bytes"] == {"value": "1048576", "source": "--set, match #"}
    assert found["settings"]["broker"]["global-max-size"] == {"value": "2097152", "source": "--set"}
    assert found["settings"]["a"]["page-size-bytes"]["source"].startswith(f"{config}:")
    assert found["edition"] == NEWEST.value


def test_an_edition_that_no_broker_was_compared_with_is_named(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    assert "source code only" in call("run", trace, "--config", config, "--edition", "artemis-2.4", "--anyway")[2]
    assert "source code only" not in call("run", trace, "--config", config, "--edition", "artemis-2.10", "--anyway")[2]


def test_run_writes_a_report(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "multicast-slow")
    status, _, _ = call("run", trace, "--config", config, "--report", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert status == 0
    assert "Queue m.slow held 5 of 5 pages" in text and "max-size-bytes" in text and "<svg" in text


def test_run_writes_a_data_directory_that_pages_reads(
    tmp_path: Path, call: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    status, out, err = call("run", trace, "--config", config, "--out", tmp_path / "data", "--until", 44)
    assert status == 0 and "45 operations" in out, err
    assert run(["pages", "ls", str(tmp_path / "data"), "--format", "json"]) == 0
    stores = json.loads(capfd.readouterr().out)["stores"]
    assert [(one["address"], one["pages"], one["messages"]) for one in stores] == [("a", 4, 29)]


def test_same_input_same_bytes(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "random-001-08")
    for n in (1, 2):
        call("run", trace, "--config", config, "--outcome", tmp_path / f"{n}.jsonl", "--report", tmp_path / f"{n}.html")
    for kind in ("jsonl", "html"):
        assert (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()


def test_a_malformed_line_stops_and_nothing_done_is_lost(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join([*lines[:20], b'{"op":"send"}\n', *lines[20:]]))
    outcome = tmp_path / "o.jsonl"
    status, out, err = call("run", trace, "--config", config, "--outcome", outcome)
    assert status == 2
    assert f"{trace}: line 21: 'address' is missing" in err
    assert "19 operations" in out
    assert len(outcome.read_bytes().splitlines()) == 20


def test_bad_lines_passed_over_keep_their_place(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join([*lines[:20], b"nonsense\n", b'{"op":"fly"}\n', *lines[20:]]))
    outcome = tmp_path / "o.jsonl"
    status, out, err = call("run", trace, "--config", config, "--outcome", outcome, "--skip-bad-lines")
    assert status == 1, err
    told = [json.loads(line) for line in outcome.read_bytes().splitlines()]
    assert told[20] == {"i": 19, "op": None, "r": "malformed", "detail": told[20]["detail"]}
    assert told[21] == {"i": 20, "op": "fly", "r": "unsupported"}
    assert told[-1]["end"] is True and len(told) == 70
    assert "1 line of the trace could not be applied (malformed)" in out


def test_a_cut_trace_is_replayed_with_a_warning(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    trace.write_bytes(trace.read_bytes()[:-30])
    status, out, err = call("run", trace, "--config", config, "--report", tmp_path / "r.html")
    assert status == 1 and "65 operations" in out
    assert err.startswith(f"warning: {trace}: line 67 is cut off")
    assert "line 67 is cut off" in (tmp_path / "r.html").read_text("utf-8")
    assert call("run", trace, "--config", config, "--until", 9)[0] == 0


ALL_OF_A_TRACE = {
    "run": (),
    "sweep": ("--vary", "#:max-size-bytes=1M,2M"),
    "compare": ("--config", "{config}"),
    "advise": ("--heap", "64M", "--disk", "1G", "--jobs", 1),
}


@pytest.mark.parametrize("command", ALL_OF_A_TRACE)
def test_an_answer_about_less_than_was_asked_says_so(tmp_path: Path, call: Call, command: str) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    words = (*(str(word).format(config=config) for word in ALL_OF_A_TRACE[command]), "--skip-bad-lines")
    raw = trace.read_bytes()

    def answer() -> tuple[int, list[str], str]:
        status, out, err = call(command, trace, "--config", config, *words, "--format", "json")
        found = json.loads(out)
        texts = [text for each in found.get("variants", [found]) for text in each["warnings"]]
        assert call(command, trace, "--config", config, *words)[0] == status
        return status, texts, err

    assert answer()[:2] == (0, [])
    packed = gzip.compress(raw, mtime=0)
    trace.write_bytes(packed[: len(packed) // 2])
    status, texts, err = answer()
    told = f"{trace}: the compressed stream is cut off after line "
    assert status == 1 and err.count(f"warning: {told}") == 1
    assert texts and all(text.startswith(told) for text in texts)
    lines = raw.splitlines(keepends=True)
    trace.write_bytes(b"".join([*lines[:20], b"nonsense\n", b'{"op":"fly"}\n', *lines[20:]]))
    status, texts, err = answer()
    assert status == 1 and set(texts) == {
        f"{trace}: 1 line could not be applied (unsupported)",
        f"{trace}: 1 line could not be applied (malformed)",
    }
    assert command == "run" or all(f"warning: {text}\n" in err for text in texts)


def test_outcomes_without_their_end_are_not_just_equal(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    assert call("run", trace, "--config", config, "--outcome", whole)[0] == 0
    part.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:-1]))
    assert call("compare", whole, whole)[0] == 0
    status, out, err = call("compare", part, whole, "--format", "json")
    told = f"{part}: has no end line; what comes after its last line is not known"
    assert (status, json.loads(out)["warnings"], err) == (1, [told], f"warning: {told}\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "{trace}"), "--config"),
        (("run", "{trace}", "--config", "nowhere.xml"), "nowhere.xml: No such file"),
        (("run", "nowhere.jsonl", "--config", "{config}"), "nowhere.jsonl: No such file"),
        (("run", "{config}", "--config", "{config}"), "line 1: not JSON"),
        (("run", "{trace}", "--config", "{trace}"), "trace.jsonl"),
        (("run", "{trace}", "--config", "{config}", "--set", "x"), "expected MATCH:NAME=VALUE"),
        (("run", "{trace}", "--config", "{config}", "--set", "#:colour=red"), "'colour' is not a setting"),
        (("run", "{trace}", "--config", "{config}", "--set", "a.#:max-sise-bytes=1M"), "mean 'a.#:max-size-bytes=1M'?"),
        (("run", "{trace}", "--config", "{config}", "--set", "max-size-bytes=1M"), "mean '#:max-size-bytes=1M'?"),
        (("run", "{trace}", "--config", "{config}", "--set", "#:Global-Max-Size=1M"), "mean 'global-max-size=1M'?"),
        (("run", "{trace}", "--config", "{config}", "--set", "#:address-full-policy=page"), "did you mean PAGE?"),
        (
            ("compare", "{trace}", "--config", "{config}", "--versus", "--set", "max-disc-usage=9"),
            "'max-disk-usage=9'?",
        ),
        (("sweep", "{trace}", "--config", "{config}", "--vary", "#:page-size-byte=1M,2M"), "'#:page-size-bytes=1M'?"),
        (("run", "{trace}", "--config", "{config}", "--set", "#:max-size-bytes=much"), "'much' is not a number"),
        (("run", "{trace}", "--config", "{config}", "--edition", "artemis-9"), "artemis-9"),
        (("run", "{trace}", "--config", "{config}", "--heap", "much"), "--heap 'much'"),
        (("compare", "{trace}"), "give two outcomes"),
        (("compare", "{trace}", "{trace}"), "not the header of an outcome"),
        (("sweep", "{trace}", "--config", "{config}", "--vary", "#:max-size-bytes=1,,2"), "V1,V2"),
        (("sweep", "{trace}", "--config", "{config}", "--vary", "#:max-size-bytes=1,x"), "'x' is not a number"),
        (("run", "{trace}", "--config", "{config}", "--report", "{config}"), "is an input of this command"),
        (("run", "{trace}", "--config", "{config}", "--outcome", "{trace}"), "is an input of this command"),
        (("run", "{trace}", "--config", "{config}", "--out", "{trace}"), "not an empty folder"),
        (("import", "{config}", "--to", "{config}"), "is an input of this command"),
        (("import", "{config}", "--to", "{trace}.jsonl"), "no line of the message audit log"),
        (("import", "nowhere.log", "--to", "{trace}.jsonl"), "nowhere.log: No such file"),
        (("generate", "steady", "--to", "{trace}.jsonl", "--messages", "0"), "0 is not in the range"),
        (("generate", "sideways", "--to", "{trace}.jsonl"), "sideways"),
        (("generate", "steady", "--to", "{trace}.xyz"), "no trace has the ending .xyz; use .jsonl, .jsonl.gz"),
        (("generate", "steady", "--to", "{trace}.gz.jsonl.bz2"), "no trace has the ending .bz2"),
        (("generate", "steady", "--to", "nothing"), "the name has no ending; use .jsonl"),
        (("import", str(LOGS / "plugin-debug.log.gz"), "--to", "{trace}.xyz"), "no trace has the ending .xyz"),
        *(
            (("generate", "steady", "--to", "{trace}.jsonl", f"--{option}", number), f"--{option}")
            for option in ("messages", "rate", "duration", "size", "addresses", "subscribers")
            for number in ("nan", "inf", "-1", "1e300", "9" * 30)
        ),
        *((("generate", "steady", "--to", "{trace}.jsonl", "--seed", number), "--seed") for number in ("nan", "1e300")),
        (("generate", "steady", "--to", "{trace}.jsonl", "--duration", "1e6", "--rate", "1e6"), "messages; 1000000000"),
        (("generate", "steady", "--to", "{trace}.jsonl", "--messages", "2000000", "--rate", "0.001"), "s is the most"),
        *(
            (
                ("advise", "{trace}", "--config", "{config}", "--heap", "1G", "--disk", "1G", f"--{option}", number),
                option,
            )
            for option in ("heap", "disk", "jobs")
            for number in ("nan", "inf", "-1", "1e300")
        ),
        *(
            (("sweep", "{trace}", "--config", "{config}", "--vary", f"#:max-size-bytes={number}"), "max-size-bytes")
            for number in ("nan", "inf", "1e300", "9" * 30)
        ),
    ],
)
def test_what_cannot_be_carried_out(tmp_path: Path, call: Call, words: tuple[str, ...], told: str) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    status, out, err = call(*(word.format(config=config, trace=trace) for word in words))
    assert (status, out) == (2, "")
    assert told in err and len(err.splitlines()) == 1


def test_compare_finds_the_first_difference(tmp_path: Path, call: Call) -> None:
    config, trace, theirs = laid_out(tmp_path, "page-basic")
    other = tmp_path / "drop.xml"
    other.write_bytes(config.read_bytes().replace(b"PAGE", b"DROP"))
    status, out, _ = call("compare", trace, "--config", config, "--config", other)
    assert status == 1 and "First difference" not in out
    assert "differ, the first is operation 15 (send)" in out
    status, out, _ = call("compare", trace, "--config", config, "--config", other, "--detail")
    assert status == 1 and "First difference: operation 15 (send)" in out
    assert call("compare", trace, "--config", config, "--config", config)[0] == 0
    status, out, _ = call("compare", trace, "--config", config, "--config", other, "--format", "json", "--decisions")
    found = json.loads(out)
    assert (status, found["equal"], found["first"]["i"]) == (1, False, 16)
    assert found["first"]["fields"][0] == {"name": "r", "a": "paged", "b": "dropped"}
    assert found["sends"]["a"] == {"paged": 31, "queued": 23}
    assert sum(one["count"] for one in found["changes"]) == 31
    assert call("compare", theirs, theirs)[0] == 0


def test_compare_shows_settings_side_by_side(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    drop, large = ("--set", "#:address-full-policy=DROP"), ("--set", "#:max-size-bytes=1M")
    status, out, _ = call("compare", trace, "--config", config, *drop, "--versus", *large, "--format", "json")
    found = json.loads(out)
    assert status == 1 and found["remarks"] == []
    assert (found["a"], found["b"]) == (f"{config} {drop[1]}", f"{config} {large[1]}")
    for side, words in (("a", drop), ("b", large)):
        alone = json.loads(call("run", trace, "--config", config, *words, "--format", "json")[1])
        figures, address = found["totals"][side], alone["addresses"]["a"]
        assert figures["peak_memory"] == alone["broker"]["peak_memory"]["value"]
        assert figures["peak_disk"] == alone["broker"]["peak_disk"]["value"]
        assert figures["peak_pages"] == address["peak_pages"]["value"]
        assert figures["peak_messages"] == address["peak_messages"]["value"]
        assert figures["dropped"] == address["sends"].get("dropped", 0)
        assert figures["page_mode_ns"] == address["page_mode"]["ns"]
    rows = dict(
        line.split("  ", 1)
        for line in call("compare", trace, "--config", config, "--versus", *large)[1].splitlines()
        if line.startswith("p")
    )
    assert rows["paged"].split() == ["31", "0"] and rows["peak disk"].split() == ["34.4", "KiB", "0", "B"]
    both = call("compare", trace, "--config", config, "--config", config, *drop)
    assert both[0] == 0 and call("compare", trace, "--config", config, *drop)[0] == 2


def test_compare_shows_a_real_outcome_beside_ours(tmp_path: Path, call: Call) -> None:
    config, trace, theirs = laid_out(tmp_path, "block-basic")
    ours = tmp_path / "ours.jsonl"
    assert call("run", trace, "--config", config, "--outcome", ours, "--set", "#:max-size-bytes=1M")[0] == 0
    status, out, _ = call("compare", theirs, ours, "--format", "json")
    found = json.loads(out)
    assert status == 1 and found["totals"]["a"]["blocked"] > 0 == found["totals"]["b"]["blocked"]
    assert found["totals"]["a"]["blocked_ns"] is None and found["totals"]["b"]["blocked_ns"] == 0
    assert found["remarks"] == ["A: durations are not known: times are in the trace, not in an outcome"]
    text = call("compare", theirs, ours)[1]
    assert "\n? A: durations are not known" in text
    ours.write_bytes(ours.read_bytes().replace(b'"r":"queued"', b'"r":7', 1))
    status, _, err = call("compare", ours, theirs)
    assert status == 2 and "not in the form of an outcome" in err and len(err.splitlines()) == 1


def test_sweep_makes_a_row_of_every_combination(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    words = (
        "sweep",
        trace,
        "--config",
        config,
        "--vary",
        "#:max-size-bytes=20K,1M",
        "--vary",
        "#:address-full-policy=PAGE,DROP",
    )
    status, out, _ = call(*words, "--jobs", 2, "--format", "json")
    rows = json.loads(out)["variants"]
    assert status == 0
    assert [row["settings"] for row in rows] == [
        [f"#:max-size-bytes={size}", f"#:address-full-policy={policy}"]
        for size in ("20K", "1M")
        for policy in ("PAGE", "DROP")
    ]
    assert [(row["paged"] > 0, row["dropped"] > 0) for row in rows] == [
        (True, False),
        (False, True),
        (False, False),
        (False, False),
    ]
    assert rows[0]["peak_memory"] == 21588 and rows[0]["peak_disk"] == 35216
    table = list(csv.DictReader(io.StringIO(call(*words, "--jobs", 1, "--format", "csv")[1])))
    assert [int(row["peak_memory"]) for row in table] == [row["peak_memory"] for row in rows]
    assert "peak heap" in call(*words)[1]
    limited = call(*words, "--sort", "peak_disk", "--columns", "number,peak_disk", "--limit", 1, "--format", "jsonl")
    assert json.loads(limited[1]) == {"number": 0, "peak_disk": 35216}
    assert call(*words, "--columns", "nothing")[0] == 2


def test_sweep_and_compare_count_acknowledgements_that_failed(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    lost = tmp_path / "lost.jsonl"
    head = [line for line in trace.read_text().splitlines() if '"trace"' in line or '"create_queue"' in line]
    queue = next(json.loads(line)["queue"] for line in head if '"create_queue"' in line)
    reader = [
        {"t": 9_000_000_000, "op": "open_consumer", "consumer": "c", "queue": queue},
        {"t": 9_000_000_001, "op": "ack", "consumer": "c", "mode": "individual", "seq": 77},
    ]
    lost.write_text("\n".join([*head, *map(json.dumps, reader)]) + "\n")
    words = ("sweep", lost, "--config", config, "--vary", "#:max-size-bytes=20K,1M")
    assert [row["failed_acks"] for row in json.loads(call(*words, "--format", "json")[1])["variants"]] == [1, 1]
    assert "acks failed" in call(*words)[1]
    sides = ("compare", lost, "--config", config, "--config", config)
    assert "1 acknowledgement failed on both sides" in call(*sides)[1]
    assert json.loads(call(*sides, "--format", "json")[1])["totals"]["a"]["failed_acks"] == 1


def test_advice_holds_when_it_is_replayed(tmp_path: Path, call: Call) -> None:
    # An address setting of its own must not override the advice.
    config, trace, _ = laid_out(tmp_path, "block-basic")
    words = ("advise", trace, "--config", config, "--disk", "1M")
    plenty = json.loads(call(*words, "--heap", "64M", "--format", "json")[1])
    assert plenty["holds"] and plenty["best"]["totals"]["paged"] == 0
    tight = call(*words, "--heap", "60K", "--jobs", 1, "--format", "json")
    found = json.loads(tight[1])
    assert tight[0] == 0 and found["best"]["totals"]["paged"] > 0
    assert found["memory"] == 30 * 1024 and found["pages"] == (1 << 20) * 90 // 100
    settings = [word for text in found["best"]["settings"] for word in ("--set", text)]
    alone = json.loads(call("run", trace, "--config", config, *settings, "--format", "json")[1])
    sends = [one["sends"] for one in alone["addresses"].values()]
    assert sum(one.get("paged", 0) for one in sends) == found["best"]["totals"]["paged"]
    assert not {"dropped", "failed", "blocked"} & {name for one in sends for name in one}
    assert alone["broker"]["peak_memory"]["value"] == found["best"]["totals"]["peak_memory"] <= found["memory"]
    least = min(one["totals"]["paged"] for one in found["tried"] if not one["failing"])
    assert least == found["best"]["totals"]["paged"]
    assert json.loads(call(*words, "--heap", "60K", "--jobs", 2, "--format", "json")[1]) == found
    status, out, _ = call("advise", trace, "--config", config, "--heap", "60K", "--disk", "1K")
    assert status == 1 and out.startswith("No settings work.") and "of disk, more than 921 B" in out


def test_advice_for_an_address_with_settings_of_its_own(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "block-basic")
    config.write_bytes(config.read_bytes().replace(b'match="#"', b'match="a"'))
    found = json.loads(
        call("advise", trace, "--config", config, "--heap", "60K", "--disk", "1M", "--format", "json")[1]
    )
    assert "a:address-full-policy=PAGE" in found["best"]["settings"] and found["best"]["totals"]["blocked"] == 0


def test_advice_keeps_a_backlog_from_making_the_others_page(tmp_path: Path, call: Call) -> None:
    # The global limit alone would also page the address that is read at once.
    config, trace = tmp_path / "broker.xml", tmp_path / "mixed.jsonl"
    config.write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
        '<address-setting match="#"><page-size-bytes>2K</page-size-bytes></address-setting>'
        "</address-settings></core></configuration>"
    )
    lines: list[dict[str, Any]] = [{"trace": 1, "name": "mixed"}]
    for name in ("slow", "fast"):
        lines += [
            {"op": "create_queue", "t": 0, "address": name, "queue": name},
            {"op": "open_consumer", "t": 0, "consumer": name, "queue": name},
        ]
    for n in range(300):
        t = n * 10_000_000
        lines += [{"op": "send", "t": t, "address": "slow", "seq": 2 * n, "size": 1000}]
        lines += [{"op": "send", "t": t, "address": "fast", "seq": 2 * n + 1, "size": 1000}]
        lines += [{"op": "receive", "t": t, "consumer": "fast"}]
        lines += [{"op": "ack", "t": t, "consumer": "fast", "seq": 2 * n + 1}]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("advise", trace, "--config", config, "--heap", "200K", "--disk", "10M", "--jobs", 1, "--format", "json")
    found = json.loads(call(*words)[1])
    paged = {one["settings"][-1]: one["totals"]["paged"] for one in found["tried"]}
    best = found["best"]["settings"][-1]
    assert paged[best] == min(paged.values()) < paged["#:max-size-bytes=-1"] and best != "#:max-size-bytes=-1"
    assert " paged; " in dict(map(dict.values, found["evidence"]))["max-size-bytes"]


def test_advice_for_one_address_among_others(tmp_path: Path, call: Call) -> None:
    """Advise settings for an address with bursts, which pages less once its limit is lifted.

    A backlog pages with any limit, so only the bursts get more memory. If the disk is too small for that, smaller pages
    of this one address are the advice.
    """
    config, trace = tmp_path / "broker.xml", tmp_path / "mixed.jsonl"
    config.write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
        '<address-setting match="#"><page-size-bytes>4K</page-size-bytes></address-setting>'
        "</address-settings></core></configuration>"
    )
    lines: list[dict[str, Any]] = [{"trace": 1, "name": "mixed"}]
    for name in ("backlog", "bursts", "quiet"):
        lines += [{"op": "create_queue", "queue": name}, {"op": "open_consumer", "consumer": name, "queue": name}]
    seq = iter(range(10_000))
    for n in range(600):
        arrives = ("backlog", "quiet") if n % 100 >= 60 else ("backlog", "bursts", "quiet")
        lines += [
            {"op": "send", "t": n * 10_000_000, "address": one, "seq": next(seq), "size": 1000} for one in arrives
        ]
        lines.append({"op": "receive", "consumer": "quiet", "ack": "each"})
        if "bursts" not in arrives:
            lines.append({"op": "receive", "consumer": "bursts", "ack": "each", "max": 2})
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("advise", trace, "--config", config, "--heap", "200K", "--jobs", 1, "--format", "json")
    found = json.loads(call(*words, "--disk", "20M")[1])
    assert found["best"]["settings"][-1] == "bursts:max-size-bytes=-1"
    common = min(one["totals"]["paged"] for one in found["tried"] if one["settings"][-1].startswith("#"))
    assert found["best"]["totals"]["paged"] < 0.9 * common
    evidence = dict(map(dict.values, found["evidence"]))["bursts:max-size-bytes"]
    assert f"of {common} paged messages are its own" in evidence
    short = json.loads(call(*words, "--disk", 723_600)[1])
    assert short["best"]["settings"][-1] == "bursts:page-size-bytes=1024"


def test_import_then_run(tmp_path: Path, call: Call) -> None:
    trace = tmp_path / "t.parquet"
    status, out, _ = call("import", LOGS / "plugin-debug.log.gz", "--to", trace, "--format", "json")
    found = json.loads(out)
    assert status == 0
    assert found["operations"]["send"] == 55 and found["source"] == "plugin-log"
    assert found["never_known"] and "prepare of an XA branch (committed without)" in found["unknown"]
    config = laid_out(tmp_path, "page-basic")[0]
    status, out, _ = call("run", trace, "--config", config)
    assert status == 0 and "orders" in out


def test_generate_then_run(tmp_path: Path, call: Call) -> None:
    trace = tmp_path / "t.jsonl.zst"
    status, out, err = call("generate", "slow-consumer", "--to", trace, "--duration", 3, "--rate", 100)
    assert (status, out) == (0, "") and "slow-consumer" in err
    config = laid_out(tmp_path, "page-basic")[0]
    status, out, _ = call("run", trace, "--config", config, "--format", "json")
    assert status == 0 and sum(json.loads(out)["addresses"]["orders"]["sends"].values()) == 300


def test_a_trace_from_a_pipe(tmp_path: Path, call: Call) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(trace.read_bytes()))
    writer.start()
    status, out, err = call("run", pipe, "--config", config)
    writer.join()
    assert status == 0 and out.startswith("page-basic: 66 operations"), err


def test_logs_from_a_pipe_are_refused(tmp_path: Path, call: Call) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, _, err = call("import", tmp_path / "pipe", "--to", tmp_path / "t.jsonl")
    assert status == 2 and "is read twice" in err


def traces_of_brokers(folder: Path) -> Path:
    """Write a fleet list of two sound brokers, one without its trace and one without its configuration."""
    for number, name in enumerate(("page-basic", "block-basic")):
        config, trace, _ = laid_out(folder, name)
        config.rename(folder / f"{number}.xml")
        trace.rename(folder / f"{number}.jsonl")
    listing = folder / "list.csv"
    listing.write_text(
        "name,path,config,edition\n# a remark\none,0.jsonl,0.xml,\ntwo,1.jsonl,,artemis-2.44\n"
        "gone,nowhere.jsonl,0.xml,\nlost,0.jsonl,nowhere.xml,\n"
    )
    return listing


def test_traces_of_several_brokers_are_a_row_each(tmp_path: Path, call: Call) -> None:
    listing = traces_of_brokers(tmp_path)
    words = ("--brokers", listing, "--config", tmp_path / "1.xml", "--format", "json")
    status, out, err = call("run", *words)
    rows = json.loads(out)["replays"]
    assert status == 1 and [row["broker"] for row in rows] == ["one", "two", "gone", "lost"]
    assert ["nowhere.jsonl" in rows[2]["failed"], "nowhere.xml" in rows[3]["failed"]] == [True, True]
    assert [line.split(": ")[1] for line in err.splitlines() if line.startswith("warning")] == ["gone", "lost"]
    for row, number in zip(rows[:2], "01", strict=True):
        edition = ("--edition", "artemis-2.44") if number == "1" else ()
        alone = call(
            "run", tmp_path / f"{number}.jsonl", "--config", tmp_path / f"{number}.xml", *edition, "--format", "json"
        )
        assert json.loads(alone[1])["broker"]["peak_memory"]["value"] == row["peak_memory"] > 0
    varied = ("sweep", *words, "--vary", "#:max-size-bytes=20K,1M")
    swept = json.loads(call(*varied, "--jobs", 2)[1])["variants"]
    assert swept == json.loads(call(*varied, "--jobs", 1)[1])["variants"]
    assert [(row["broker"], row["number"], "failed" in row) for row in swept] == [
        ("one", 0, False),
        ("one", 1, False),
        ("two", 0, False),
        ("two", 1, False),
        ("gone", 0, True),
        ("gone", 1, True),
        ("lost", 0, True),
    ]
    raw = (tmp_path / "1.jsonl").read_bytes()
    (tmp_path / "1.jsonl").write_bytes(raw[:-9])
    for jobs in (1, 2):  # what is not in the figures of a row is said once
        cut = call("sweep", "--brokers", listing, "--config", tmp_path / "1.xml", *varied[-2:], "--jobs", jobs)[2]
        assert cut.count("1.jsonl: line ") == 1 and "is cut off" in cut
    (tmp_path / "1.jsonl").write_bytes(raw)
    table = call(
        "run", tmp_path / "0.jsonl", tmp_path / "1.jsonl", tmp_path / "no.jsonl", "--config", tmp_path / "0.xml"
    )[1]
    assert table.splitlines()[0].split()[:3] == ["broker", "peak", "heap"] and "?" in table.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "{a}", "{a}", "--config", "{config}"), "named twice"),
        (("run",), "name a TRACE"),
        (("run", "{a}"), "--config FILE"),
        (("run", "{a}", "{b}"), "--config FILE"),
        (("run", "{a}", "{b}", "--config", "{config}", "--until", "3"), "work with one TRACE only"),
        (("run", "{a}", "--config", "{config}", "--spark", "local[2]"), "several traces"),
        (("sweep", "{a}", "--config", "{config}"), "--vary"),
        (("run", "{b}", "{c}", "--config", "{config}"), "No such file"),
        (("run", "--brokers", "{config}"), "must name the columns"),
    ],
)
def test_what_does_not_fit_several_traces_is_told(
    tmp_path: Path, call: Call, words: tuple[str, ...], said: str
) -> None:
    config, trace, _ = laid_out(tmp_path, "page-basic")
    names = {"config": config, "a": trace, "b": tmp_path / "b.jsonl", "c": tmp_path / "c.jsonl"}
    status, out, err = call(*(word.format(**names) for word in words))
    assert (status, out) == (2, "") and said in err and len(err.splitlines()) == 1


@pytest.mark.cluster
def test_spark_replays_the_traces_of_several_brokers(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = HERE.parent
    monkeypatch.setenv("PYTHONPATH", f"{root}:{root / 'cli'}:{root / 'schemas'}")
    listing = traces_of_brokers(tmp_path)
    words = ("run", "--brokers", listing, "--config", tmp_path / "1.xml", "--format", "json")
    status, out, _ = call(*words, "--spark", "local[2]")
    assert (status, json.loads(out)) == (1, json.loads(call(*words)[1]))


@pytest.mark.cluster
def test_spark_gives_the_same_rows(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    root = HERE.parent
    monkeypatch.setenv("PYTHONPATH", f"{root}:{root / 'cli'}:{root / 'schemas'}")
    config, trace, _ = laid_out(tmp_path, "page-basic")
    words = ("sweep", trace, "--config", config, "--vary", "#:max-size-bytes=20K,40K,1M", "--format", "json")
    here = call(*words, "--jobs", 1)[1]
    assert json.loads(call(*words, "--spark", "local[2]")[1]) == json.loads(here)
    words = ("advise", trace, "--config", config, "--heap", "60K", "--disk", "1M", "--format", "json")
    here = call(*words, "--jobs", 1)[1]
    assert json.loads(call(*words, "--spark", "local[2]")[1]) == json.loads(here)
