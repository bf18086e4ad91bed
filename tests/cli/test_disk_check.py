"""``disk check`` as a monitoring system calls it: status, one line, machine formats, faults."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import program
import pytest
from exporters import samples
from golden_cases import GoldenCase
from pagectl.app import run
from pagectl.options.disk import broker_name
from plugin_output import PluginOutput, read_plugin_output
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).resolve().parents[2]
REAL_STATVFS = os.statvfs
BROKER_XML = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
 <paging-directory>data/paging</paging-directory><journal-directory>data/journal</journal-directory>
 <bindings-directory>data/bindings</bindings-directory>
 <large-messages-directory>data/large-messages</large-messages-directory>
 {settings}
 <address-settings>
  <address-setting match="#"><address-full-policy>PAGE</address-full-policy></address-setting>
  <address-setting match="loss.#"><disk-full-policy>DROP</disk-full-policy></address-setting>
  <address-setting match="orders"><address-full-policy>FAIL</address-full-policy></address-setting>
 </address-settings>
 <addresses><address name="orders"><anycast/></address><address name="loss.a"><anycast/></address></addresses>
</core></configuration>
"""

DATABASE = (
    "<store><database-store>"
    + "".join(
        f"<{name}>x</{name}>"
        for name in (
            "jdbc-driver-class-name",
            "jdbc-connection-url",
            "message-table-name",
            "bindings-table-name",
            "large-message-table-name",
            "page-store-table-name",
        )
    )
    + "</database-store></store>"
)
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.delenv("ARTEMIS_INSTANCE", raising=False)

    def check(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["disk", "check", *map(str, words)])
        told = capfd.readouterr()
        return status, told.out, told.err

    return check


def disk(usable: int, total: int, *, free: int | None = None, inodes: tuple[int, int] = (1000, 900)) -> object:
    """Imitate a result of ``os.statvfs``: sizes in bytes, ``inodes`` as (total, free)."""
    return SimpleNamespace(
        f_bavail=usable,
        f_bfree=usable if free is None else free,
        f_blocks=total,
        f_frsize=1,
        f_bsize=4096,
        f_files=inodes[0],
        f_favail=inodes[1],
        f_ffree=inodes[1],
    )


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return a function that sets what ``os.statvfs`` answers for every file system."""
    return lambda answer: monkeypatch.setattr(os, "statvfs", lambda _path: answer)


def instance(folder: Path, settings: str = "") -> Path:
    for name in ("etc", "data/paging", "data/journal", "data/bindings", "data/large-messages"):
        (folder / name).mkdir(parents=True)
    (folder / "etc" / "broker.xml").write_text(BROKER_XML.format(settings=settings))
    return folder


def read(answer: tuple[int, str, str]) -> PluginOutput:
    status, out, err = answer
    read_as = read_plugin_output(out)
    assert ["OK", "WARNING", "CRITICAL", "UNKNOWN"][status] == read_as.status
    assert err == ""
    return read_as


@pytest.mark.parametrize(
    ("usable", "words", "status", "says"),
    [
        (101, ["--max-disk-usage", "90"], 1, "1 B to go"),
        (100, ["--max-disk-usage", "90"], 2, "1 B must be freed"),
        (100, ["--max-disk-usage", "90", "--edition", "artemis-2.28"], 2, "must be freed"),
        (500, ["--max-disk-usage", "50", "--edition", "artemis-2.28"], 1, "1 B to go"),
        (500, ["--max-disk-usage", "50"], 2, "1 B must be freed"),
        (300, ["--min-disk-free", "299"], 1, "min-disk-free 299 B"),
        (300, ["--min-disk-free", "300"], 2, "min-disk-free 300 B"),
        (300, ["--min-disk-free", "300", "--max-disk-usage", "99"], 2, "min-disk-free"),
        (300, ["--min-disk-free", "300", "--max-disk-usage", "99", "--edition", "artemis-2.28"], 0, "max-disk-usage"),
        (300, ["--min-disk-free", "1K"], 2, "even when empty"),
        (0, ["--max-disk-usage", "100", "--edition", "artemis-2.17"], 0, "never blocks"),
        (0, ["--max-disk-usage", "-1"], 0, "no disk monitor"),
        (0, ["--edition", "hornetq-2.4"], 0, "before 1.4.0"),
        (250, ["-w", "70"], 1, "75.0% used"),
        (250, ["-w", "75"], 0, "75.0% used"),
        (250, ["-w", "@70:80"], 1, "75.0% used"),
        (250, ["-c", "70"], 2, "150 B to go"),
        (1000, ["--max-disk-usage", "0"], 2, "even when empty"),
    ],
)
def test_status_and_line(
    call: Call, numbers: Callable[[object], None], tmp_path: Path, usable: int, words: list[str], status: int, says: str
) -> None:
    numbers(disk(usable, 1000))
    answer = call(tmp_path, "--any-path", *words)
    told = read(answer)
    assert (answer[0], told.more) == (status, [])
    assert says in told.text


def test_bytes_left_as_threshold(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    gib = 2**30
    numbers(disk(30 * gib, 100 * gib))
    warned = read(call(tmp_path, "--any-path", "--max-disk-usage", "80", "-w", "10.5G:", "-c", "1G:"))
    assert warned.status == "WARNING"
    margin = next(value for label, value in warned.values.items() if label.endswith(" margin"))
    assert (margin.value, margin.warn, margin.crit) == (10 * gib, f"{int(10.5 * gib)}:", f"{gib}:")
    assert read(call(tmp_path, "--any-path", "--max-disk-usage", "80", "-w", "10G:")).status == "OK"


@pytest.mark.parametrize(
    ("usable", "words", "status"),
    [
        (191, ["--max-disk-usage", "90"], 0),
        (189, ["--max-disk-usage", "90"], 1),
        (99, ["--max-disk-usage", "90"], 2),
        (150, ["--max-disk-usage", "90", "-w", "100"], 0),
        (281, ["--min-disk-free", "200"], 0),
        (279, ["--min-disk-free", "200"], 1),
        (99, ["--max-disk-usage", "100"], 1),
        (150, ["--max-disk-usage", "-1"], 0),
    ],
)
def test_it_warns_before_the_broker_blocks(
    call: Call, numbers: Callable[[object], None], tmp_path: Path, usable: int, words: list[str], status: int
) -> None:
    # By default it warns if less than a tenth is left of what the broker may use.
    numbers(disk(usable, 1000))
    answer = call(tmp_path, "--any-path", *words)
    assert answer[0] == status, answer
    margin = [value for label, value in read(answer).values.items() if label.endswith(" margin")]
    assert not margin or "-w" in words or int(margin[0].warn.removesuffix(":")) in (80, 90, 100)


def test_cron_at_85_percent(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    home = instance(tmp_path / "broker")
    numbers(disk(400, 1000))
    assert call(home, "--quiet") == (0, "", "")
    numbers(disk(150, 1000))
    status, out, err = call(home, "--quiet")
    assert (status, err) == (1, "") and out.count("\n") == 1
    assert "85.0% used" in out and "max-disk-usage 90%" in out and "50 B to go" in out
    numbers(disk(90, 1000))
    assert call(home, "--quiet")[0] == 2


def test_performance_values(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    values = read(call(tmp_path, "--any-path", "--max-disk-usage", "90", "-w", "80")).values
    usage = next(value for label, value in values.items() if label.endswith(" usage"))
    assert (usage.value, usage.unit, usage.warn, usage.crit) == (75, "%", "80", "90")
    assert {label.split()[-1]: value.value for label, value in values.items()} == {
        "usage": 75,
        "margin": 150,
        "usable": 250,
        "inodes": pytest.approx(10),
    }


def test_inodes(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(900, 1000, inodes=(1000, 100)))
    assert read(call(tmp_path, "--any-path")).status == "OK"
    assert read(call(tmp_path, "--any-path", "-W", "80")).status == "WARNING"
    assert "inodes 90.0% used" in read(call(tmp_path, "--any-path", "-K", "80")).text
    numbers(disk(900, 1000, inodes=(1000, 0)))
    assert read(call(tmp_path, "--any-path")).status == "CRITICAL"
    numbers(disk(900, 1000, inodes=(0, 0)))
    assert read(call(tmp_path, "--any-path", "-W", "80")).status == "OK"


def test_settings_from_the_instance(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker", "<max-disk-usage>75</max-disk-usage>")
    for path in (home, home / "data", home / "data" / "paging", home / "etc" / "broker.xml"):
        assert "max-disk-usage 75%" in read(call(path)).text, path
    assert read(call(home)).status == "CRITICAL"
    assert read(call(home, "--max-disk-usage", "90")).status == "OK"


def test_instance_from_the_environment(
    call: Call, numbers: Callable[[object], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers(disk(250, 1000))
    assert "ARTEMIS_INSTANCE" in read(call()).text
    home = instance(tmp_path / "broker", "<min-disk-free>250</min-disk-free>")
    monkeypatch.setenv("ARTEMIS_INSTANCE", str(home))
    assert read(call()).status == "CRITICAL"


def test_properties_come_after_the_file(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker", "<max-disk-usage>75</max-disk-usage>")
    properties = home / "etc" / "broker.properties"
    properties.write_text("maxDiskUsage=80\n")
    assert "max-disk-usage 80%" in read(call(home)).text
    older = call(home, "--edition", "artemis-2.17", "--anyway")
    assert "max-disk-usage 75%" in older[1] and "disk-full-policy is not known" in older[2]
    properties.write_text("maxDiskUsage=80\nminDiskFree=1K\n")
    assert "min-disk-free 1.0 KiB" in read(call(home)).text
    # of a key that is there twice the broker knows the last value alone, and this one it refuses
    properties.write_text("maxDiskUsage=80\nminDiskFree=1K\nminDiskFree=lots\n")
    assert "max-disk-usage 80%" in read(call(home)).text
    (home / "etc" / "artemis.profile").write_text('JAVA_ARGS="-Dbrokerconfig.minDiskFree=-1 -Xmx1G"\n')
    assert "max-disk-usage 80%" in read(call(home)).text
    (tmp_path / "pages").mkdir()
    properties.write_text(f"pagingDirectory={tmp_path / 'none'}\n")
    assert json.loads(call(home, "--format", "json")[1])["missing"] == ["paging"]


@pytest.mark.parametrize(
    ("release", "edition", "status"),
    [
        ("2.28.0", "artemis-2.28", 1),
        ("2.30.0", "artemis-2.28", 1),
        ("2.44.0", "artemis-2.44", 2),
        ("", "artemis-2.56", 2),
    ],
)
def test_the_release_of_the_installation_decides(
    call: Call, numbers: Callable[[object], None], tmp_path: Path, release: str, edition: str, status: int
) -> None:
    # A usage of exactly the limit is allowed up to 2.30.0 and blocks since 2.31.0.
    numbers(disk(500, 1000))
    home = instance(tmp_path / "broker", "<max-disk-usage>50</max-disk-usage>")
    (tmp_path / "artemis" / "lib").mkdir(parents=True)
    if release:
        (tmp_path / "artemis" / "lib" / f"artemis-server-{release}.jar").touch()
    (home / "etc" / "artemis.profile").write_text(f"ARTEMIS_HOME='{tmp_path / 'artemis'}'\n")
    answer, out, _ = call(home, "--anyway", "--format", "json")
    assert (answer, json.loads(out)["edition"]) == (status, edition)


def test_configuration_elsewhere(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker", "<min-disk-free>250</min-disk-free>")
    moved = tmp_path / "elsewhere.xml"
    (home / "etc" / "broker.xml").rename(moved)
    for path in (home, home / "data"):
        status, out, _ = call(path, "--config", moved, "--format", "json")
        told = json.loads(out)
        assert (status, told["limit"]) == (2, {"setting": "min-disk-free", "value": 250})
        assert sorted(told["stores"][0]["directories"]) == ["bindings", "journal", "large-messages", "paging"]


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ("<max-disk-usage>50</max-disk-usage><min-disk-free>10</min-disk-free>", "AMQ224130"),
        ("<max-disk-usage>-1</max-disk-usage>", "nothing is monitored"),
        ("<disk-scan-period>-1</disk-scan-period>", "disk-scan-period is negative"),
        (DATABASE, "database-store"),
        ("", "default of 90 %"),
        ("<min-disk-free>1G</min-disk-free>", "beyond the limit even when empty"),
    ],
)
def test_notes(call: Call, numbers: Callable[[object], None], tmp_path: Path, settings: str, note: str) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker", settings)
    assert any(note in text for text in json.loads(call(home, "--format", "json")[1])["notes"])
    assert any(note in text for text in read_plugin_output(call(home, "-v")[1]).more)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("<max-disk-usage>101</max-disk-usage>", "max-disk-usage: '101'"),
        ("<max-disk-usage>90%</max-disk-usage>", "max-disk-usage"),
        ("<min-disk-free>10T</min-disk-free>", "10T"),
        ("<min-disk-free>0</min-disk-free>", "min-disk-free: '0'"),
        ("<disk-scan-period>0</disk-scan-period>", "disk-scan-period: '0'"),
        ("<broken", "broker.xml"),
    ],
)
def test_what_the_broker_refuses_is_unknown(call: Call, tmp_path: Path, settings: str, says: str) -> None:
    told = read(call(instance(tmp_path / "broker", settings)))
    assert told.status == "UNKNOWN"
    assert says in told.text
    assert "broker.xml:" in told.text


def test_without_persistence_only_pages_are_watched(
    call: Call, numbers: Callable[[object], None], tmp_path: Path
) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker", "<persistence-enabled>false</persistence-enabled>")
    assert json.loads(call(home, "--format", "json")[1])["stores"][0]["directories"] == ["paging"]


def test_json_is_complete(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000, free=300))
    home = instance(tmp_path / "broker", "<max-disk-usage>75</max-disk-usage>")
    status, out, err = call(home, "--format", "json")
    told = json.loads(out)
    store = told["stores"][0]
    assert (status, err, told["status"], told["state"], told["exit_status"]) == (2, "", "CRITICAL", "blocked", 2)
    assert (store["usage_percent"], store["df_percent"], store["reserved"]) == (75.0, 74, 50)
    assert (store["blocks_at"], store["margin"], store["to_free"]) == (250, 0, 1)
    felt = {tuple(group["addresses"]): (group["asked"], group["arriving"]) for group in told["when_blocked"]}
    assert felt == {
        ("orders",): ("waits", "refused"),
        ("loss.a", "loss.#"): ("goes on", "dropped"),
        ("every other address",): ("waits", "page mode"),
    }
    assert "STOMP" in told["closed_at_send"]


def test_details_explain_df(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000, free=600))
    more = read_plugin_output(call(tmp_path, "--any-path", "-v")[1]).more
    assert any("df says 62%: 350 B are reserved" in text for text in more)
    assert call(tmp_path, "--any-path", "-v")[1] == call(tmp_path, "--any-path", "--format", "text")[1]
    assert "75.0% used (df: 62%)" in read(call(tmp_path, "--any-path")).text


def test_many_addresses_do_not_flood_a_line(call: Call, tmp_path: Path) -> None:
    setting = '<address-setting match="a.{}"><disk-full-policy>FAIL</disk-full-policy></address-setting>'
    names = "".join(map(setting.format, range(50)))
    home = instance(tmp_path / "broker")
    file = home / "etc" / "broker.xml"
    file.write_text(file.read_text().replace("<address-settings>", f"<address-settings>{names}"))
    assert any("a.9 and 40 more" in text for text in read_plugin_output(call(home, "-v")[1]).more)
    felt = json.loads(call(home, "--format", "json")[1])["when_blocked"]
    assert [len(group["addresses"]) for group in felt if "a.49" in group["addresses"]] == [50]


def test_prometheus_is_read_back(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    target = tmp_path / "disk.prom"
    status, out, _ = call(
        tmp_path, "--any-path", "--max-disk-usage", "75", "--format", "prometheus", "--textfile", target
    )
    assert status == 2
    assert target.read_text() == out
    assert {dict(labels)["broker"] for _, labels in samples(out)} == {tmp_path.name}
    assert {name: value for (name, _), value in samples(out).items()} == {
        "pagectl_disk_status": 2,
        "pagectl_disk_blocked": 1,
        "pagectl_disk_usage_ratio": 0.75,
        "pagectl_disk_usable_bytes": 250,
        "pagectl_disk_size_bytes": 1000,
        "pagectl_disk_blocks_at_bytes": 250,
        "pagectl_disk_margin_bytes": 0,
        "pagectl_disk_inodes": 1000,
        "pagectl_disk_inodes_usable": 900,
    }


def test_textfiles_of_two_brokers_are_one_exposition(
    call: Call, numbers: Callable[[object], None], tmp_path: Path
) -> None:
    # A node exporter reads all files of its folder, and drops samples that it has already read.
    numbers(disk(250, 1000))
    files = []
    for name, limit in (("orders", 75), ("billing", 90)):
        files.append(tmp_path / f"{name}.prom")
        call(instance(tmp_path / name), "--max-disk-usage", limit, "--textfile", files[-1])
    files.append(tmp_path / "none.prom")
    call(tmp_path / "none", "--textfile", files[-1], "--broker", "third")
    found = samples("".join(path.read_text() for path in files))
    states = {dict(labels)["broker"]: value for (name, labels), value in found.items() if name == "pagectl_disk_status"}
    assert states == {"orders": 2, "billing": 0, "third": 3}
    blocked = {dict(labels)["broker"]: value for (name, labels), value in found.items() if name.endswith("_blocked")}
    assert blocked == {"orders": 1, "billing": 0}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/orders", "orders"),
        ("/srv/orders/data", "orders"),
        ("/srv/orders/data/paging", "orders"),
        ("/srv/orders/data/paging/4f2a/000000001.page", "orders"),
        ("/srv/orders/etc/broker.xml", "orders"),
        ("/data", "data"),
        ("/", "/"),
        ("/data/orders/data", "orders"),
        ("/srv/a/../orders/.", "orders"),
        ("/opt/eap/standalone/data/activemq", "eap"),
        ("/opt/eap/standalone/configuration/standalone.xml", "eap"),
        ("/var/lib/activemq", "activemq"),
        ("/var/lib/broker-2.56", "broker-2.56"),
    ],
)
def test_a_broker_is_called_as_the_folder_of_its_instance(
    path: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broker_name(Path(path)) == name
    monkeypatch.chdir(tmp_path)
    assert broker_name(Path()) == broker_name(Path("data")) == tmp_path.name
    monkeypatch.setenv("ARTEMIS_INSTANCE", path)
    assert broker_name(None) == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/srv/orders/data", "--no-such"], "orders"),
        (["--warning", "x", "/srv/orders", "--no-such"], "orders"),
        (["/srv/orders", "--broker", "east", "--no-such"], "east"),
        (["--broker=east", "--no-such"], "east"),
        (["--no-such"], "from-environment"),
    ],
)
def test_unknown_for_a_call_with_an_error_has_its_broker(
    call: Call, words: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARTEMIS_INSTANCE", "/srv/from-environment")
    status, out, _ = call(*words, "--format", "prometheus")
    assert status == 3
    assert samples(out) == {("pagectl_disk_status", frozenset({("broker", name)})): 3}
    assert json.loads(call(*words, "--format=json")[1])["broker"] == name


def test_only_exposition_text_needs_the_library_for_it(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library loads HTTP and TLS, which takes as long as the rest of the start.
    for name in [name for name in sys.modules if name.partition(".")[0] == "prometheus_client"]:
        monkeypatch.setitem(sys.modules, name, None)
    options = ("--any-path", "--max-disk-usage", 100)
    for words in ([], ["--format", "json"], ["--format", "text"]):
        assert call(tmp_path, *options, *words)[0] == 0
    assert call(tmp_path, *options, "--textfile", tmp_path / "x.prom")[0] == 3


@pytest.mark.parametrize("setting", ["max-disk-usage", "min-disk-free", "disk-scan-period"])
def test_no_value_of_the_environment_becomes_a_limit(
    call: Call, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The value would be shown, and the broker's environment may differ from this one: the answer is unknown.
    monkeypatch.setenv("NUMBER", "7654")
    home = instance(tmp_path / "broker", f"<{setting}>${{NUMBER:80}}</{setting}>")
    for words in ([], ["-v"], ["--format", "json"], ["--format", "prometheus"], ["--anyway", "-v"]):
        status, out, err = call(home, *words)
        assert "7654" not in out + err and (status == 3) is ("--anyway" not in words)
        assert f"{setting} is ${{NUMBER:80}}, which only the running broker knows" in out + err
    assert call(home, "--max-disk-usage", 100)[0] == 0
    monkeypatch.delenv("NUMBER")
    assert call(home, "-w", "100", "-c", "100")[0] != 3, "the default in the file counts"


def test_variables_of_the_environment_name_directories_and_are_not_shown_elsewhere(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "data")
    monkeypatch.setenv("PIN", "9876")
    home = instance(tmp_path / "broker", "<persistence-enabled>${PIN}</persistence-enabled>")
    file = home / "etc" / "broker.xml"
    text = file.read_text().replace(">data/paging<", ">${WHERE}/paging<").replace('match="orders"', 'match="${PIN}"')
    file.write_text(text.replace('match="loss.#"><disk-full-policy>DROP', 'match="loss.#"><disk-full-policy>${PIN}'))
    (home / "data" / "paging" / "x").mkdir()
    status, out, err = call(home, "--format", "json")
    assert "9876" not in out + err and status != 3, out
    assert [each["directories"] for each in json.loads(out)["stores"]] == [
        ["paging", "journal", "large-messages", "bindings"]
    ]


def test_odd_names_survive_every_format(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / "a|b'c=d\n\"e\\f"
    odd.mkdir()
    monkeypatch.setattr("pagefmt.storage.filesystems.mount_point", lambda _real: (1, str(odd)))
    told = read(call(odd, "--any-path"))
    assert "\\x7cb" in told.text
    families = list(text_string_to_metric_families(call(odd, "--any-path", "--format", "prometheus")[1]))
    assert families[1].samples[0].labels["mount"] == str(odd)
    assert json.loads(call(odd, "--any-path", "--format", "json")[1])["stores"][0]["mount"] == str(odd)


def test_quiet_is_silent_only_when_fine(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(250, 1000))
    target = tmp_path / "disk.prom"
    assert call(tmp_path, "--any-path", "--quiet", "--textfile", target) == (0, "", "")
    assert samples(target.read_text())["pagectl_disk_status", frozenset({("broker", tmp_path.name)})] == 0
    assert call(tmp_path, "--any-path", "--quiet", "-w", "10")[1].startswith("DISK WARNING")


@pytest.mark.parametrize(
    "words",
    [
        ["--nothing"],
        ["-w", "20:10", "/"],
        ["-c", "", "/"],
        ["-t", "none", "/"],
        ["-t", "0", "/"],
        ["/", "/"],
        ["--max-disk-usage", "101", "/"],
        ["--max-disk-usage", "x", "/"],
        ["--min-disk-free", "0", "/"],
        ["--min-disk-free", "10T", "/"],
        ["--edition", "artemis-3", "/"],
        ["--format", "xml", "/"],
        ["-W", "x", "/"],
    ],
)
def test_usage_errors_are_unknown(call: Call, words: list[str]) -> None:
    status, out, err = call(*words)
    assert (status, err) == (3, "")
    assert len(out.splitlines()) == 1
    assert out.startswith("DISK UNKNOWN - ") and "(see 'pagectl disk check --help')" in out


def test_nothing_there(call: Call, tmp_path: Path) -> None:
    told = read(call(tmp_path / "none", "--any-path"))
    assert told.status == "UNKNOWN"
    assert "no such directory" in told.text


def test_missing_directories_are_skipped_as_the_broker_does(
    call: Call, numbers: Callable[[object], None], tmp_path: Path
) -> None:
    numbers(disk(250, 1000))
    home = instance(tmp_path / "broker")
    (home / "data" / "bindings").rmdir()
    (home / "data" / "journal").rmdir()
    told = json.loads(call(home, "--format", "json")[1])
    assert told["missing"] == ["journal", "bindings"]
    assert told["stores"][0]["directories"] == ["paging", "large-messages"]
    for name in ("paging", "large-messages"):
        (home / "data" / name).rmdir()
    assert read(call(home)).status == "UNKNOWN"


def test_links_are_followed(call: Call, tmp_path: Path) -> None:
    home = instance(tmp_path / "broker")
    (home / "data" / "paging").rmdir()
    (tmp_path / "pages").mkdir()
    (home / "data" / "paging").symlink_to(tmp_path / "pages")
    (home / "data" / "journal").rmdir()
    (home / "data" / "journal").symlink_to(tmp_path / "gone")
    told = json.loads(call(home, "--format", "json")[1])
    assert told["missing"] == ["journal"]
    assert "paging" in told["stores"][0]["directories"]


def test_a_loop_of_links_is_unknown(call: Call, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    told = read(call(tmp_path / "loop"))
    assert told.status == "UNKNOWN"
    assert "loop" in told.text


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_a_file_system_that_refuses(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def refuse(_path: object) -> object:
        raise error

    monkeypatch.setattr(os, "statvfs", refuse)
    told = read(call(tmp_path, "--any-path"))
    assert told.status == "UNKNOWN"
    assert error.strerror in told.text
    assert str(tmp_path) in told.text


def test_a_directory_that_disappears_while_it_is_read(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = instance(tmp_path / "broker")

    def gone(_path: object) -> object:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "statvfs", gone)
    told = read(call(home))
    assert told.status == "UNKNOWN"


def test_no_permission() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as folder:
        home = instance(Path(folder) / "broker")
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)  # whatever the caller's umask
        (home / "data").chmod(0o700)
        # every module is imported by a check of the same kind, because that user may not read this checkout either
        code = (
            "import contextlib, io, os, sys; sys.path[:0] = sys.argv[1:4]; import pagectl.outputs.plugin as plugin\n"
            "from pagectl.app import run\n"
            "within, plugin.within = plugin.within, lambda seconds, work: work()\n"
            "with contextlib.redirect_stdout(io.StringIO()):\n"
            "    for path in (sys.argv[4], sys.argv[-1]): run(['disk', 'check', path])\n"
            "plugin.within = within; os.setgid(65534); os.setuid(65534); sys.exit(run(sys.argv[-3:]))"
        )
        paths = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas")]
        closed = Path(folder) / "closed"
        (closed / "broker").mkdir(parents=True)
        closed.chmod(0)
        # DIR itself, too: it is looked at by the plugin, not by whatever reads the command line
        for path in (home, home / "data" / "paging", closed, closed / "broker"):
            done = subprocess.run(
                [sys.executable, "-c", code, *paths, str(home), "disk", "check", str(path)],
                capture_output=True,
                text=True,
                timeout=60,
            )
            told = read_plugin_output(done.stdout)
            assert (done.returncode, told.status, done.stderr) == (3, "UNKNOWN", "")
            assert "Permission denied" in told.text


def test_a_file_system_without_size(call: Call, numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(0, 0, inodes=(0, 0)))
    assert read(call(tmp_path, "--any-path", "--max-disk-usage", "90")).status == "OK"
    assert read(call(tmp_path, "--any-path", "--min-disk-free", "1")).status == "CRITICAL"


def test_a_hanging_file_system_is_unknown_in_time(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "child"

    def hang(_path: object) -> object:
        left.write_text(f"{os.getpid()} {Path('/proc/self/fd/1').readlink()}")
        time.sleep(60)
        return REAL_STATVFS("/")

    monkeypatch.setattr(os, "statvfs", hang)
    began = time.monotonic()
    told = read(call(tmp_path, "--any-path", "-t", "1.5"))
    assert time.monotonic() - began < 20
    assert told.status == "UNKNOWN"
    assert "no answer" in told.text
    status, out, err = call(tmp_path, "--any-path", "-t", "0.5", "--format", "json")
    assert (status, json.loads(out)["status"]) == (3, "UNKNOWN")
    assert err.startswith("DISK UNKNOWN")
    pid, output = left.read_text().split()
    assert output == os.devnull, "whoever waits for the end of our output would wait for the child"
    assert wait_gone(int(pid))


def wait_gone(pid: int) -> bool:
    """Wait up to five seconds for a child to end, and return whether it did."""
    for _ in range(100):
        done, _status = os.waitpid(pid, os.WNOHANG)
        if done == pid:
            return True
        time.sleep(0.05)
    return False


def test_a_pipe_in_place_of_the_configuration_is_unknown_in_time(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "broker.xml")
    assert read(call(tmp_path, "--any-path", "--config", tmp_path / "broker.xml", "-t", "0.7")).status == "UNKNOWN"


def test_textfile_that_cannot_be_written(call: Call, tmp_path: Path) -> None:
    told = read(call(tmp_path, "--any-path", "--textfile", tmp_path / "none" / "disk.prom"))
    assert told.status == "UNKNOWN"
    assert "none" in told.text
    (tmp_path / "folder").mkdir()
    assert read(call(tmp_path, "--any-path", "--textfile", tmp_path / "folder")).status == "UNKNOWN"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


def test_a_textfile_that_cannot_be_written_hides_no_finding(
    call: Call, numbers: Callable[[object], None], tmp_path: Path
) -> None:
    numbers(disk(250, 1000))
    status, out, err = call(tmp_path, "--any-path", "--max-disk-usage", 75, "--textfile", tmp_path / "none" / "a.prom")
    assert status == 2 and out.startswith("DISK CRITICAL") and "warning: --textfile: " in err and "a.prom" in err


def test_a_textfile_of_another_broker_is_left_alone(
    call: Call, numbers: Callable[[object], None], tmp_path: Path
) -> None:
    numbers(disk(250, 1000))
    target = tmp_path / "disk.prom"
    words = ("--max-disk-usage", 75, "--textfile", target)
    call(instance(tmp_path / "orders"), *words)
    before = target.read_bytes()
    status, _, err = call(instance(tmp_path / "billing"), *words)
    assert status == 2 and "has the metrics of another broker, orders" in err and target.read_bytes() == before
    assert read(call(tmp_path / "billing", "--max-disk-usage", 90, "--textfile", target)).status == "UNKNOWN"
    call(tmp_path / "none", "--textfile", target)
    assert target.read_bytes() == before
    status, _, err = call(tmp_path / "orders", *words)
    assert status == 2 and not err


def test_textfile_says_unknown(call: Call, tmp_path: Path) -> None:
    target = tmp_path / "disk.prom"
    assert call(tmp_path / "none", "--textfile", target)[0] == 3
    families = list(text_string_to_metric_families(target.read_text()))
    assert [sample.value for family in families for sample in family.samples] == [3]


def test_textfile_keeps_its_mode_and_link(call: Call, tmp_path: Path) -> None:
    real = tmp_path / "real.prom"
    call(tmp_path, "--any-path", "--textfile", real)
    assert real.stat().st_mode & 0o777 == 0o644
    real.chmod(0o640)
    (tmp_path / "link.prom").symlink_to(real)
    call(tmp_path, "--any-path", "--textfile", tmp_path / "link.prom")
    assert (tmp_path / "link.prom").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.fixture
def two_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an instance whose large messages are on another file system, which is almost full."""
    home = instance(tmp_path / "broker")
    large = str(home / "data" / "large-messages")
    monkeypatch.setattr(
        "pagefmt.storage.filesystems.mount_point", lambda real: (2, large) if real.startswith(large) else (1, "/")
    )
    monkeypatch.setattr(os, "statvfs", lambda path: disk(5 if str(path).startswith(large) else 900, 1000))
    yield home


def test_one_full_volume_blocks_all(call: Call, two_disks: Path) -> None:
    answer = call(two_disks, "--format", "json")
    told = json.loads(answer[1])
    assert [store["state"] for store in told["stores"]] == ["ok", "blocked"]
    assert (answer[0], told["state"]) == (2, "blocked")
    assert any("2 file systems are watched" in note and "large-messages" in note for note in told["notes"])
    line = read(call(two_disks))
    assert "large-messages 99.5% used" in line.text
    assert len(line.values) == 8


def test_nothing_heavy_is_imported() -> None:
    heavy = "{'numpy', 'pyarrow', 'xmlschema', 'pyspark', 'rich', 'lxml', 'crc32c', 'pydantic'}"
    code = (
        "import sys, pagectl.app, pagectl.commands.disk_check, pagectl.outputs.disk_report;"
        "import pagectl.opening.monitored_disks;"
        f"import pagefmt.storage.filesystems; print(sorted({heavy} & set(sys.modules)))"
    )
    path = ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path})
    assert done.stdout.strip() == "[]", done.stderr


def test_a_check_imports_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    # The work is done in this process, so that its modules count as well.
    unused = "concurrent.futures logging json pickle tempfile random html rich xmlschema pyarrow numpy msgspec"
    code = (
        "import sys; sys.path[:0] = sys.argv[1:4]; import pagectl.outputs.plugin as plugin;"
        "plugin.within = lambda seconds, work: work(); from pagectl.app import run; status = run(sys.argv[4:]);"
        f"print(status, sorted(set({unused.split()}) & set(sys.modules)), len(sys.modules) < 260)"
    )
    home = instance(tmp_path / "broker")
    words = [*map(str, (ROOT, ROOT / "cli", ROOT / "schemas")), "disk", "check", str(home), "--max-disk-usage", "100"]
    done = subprocess.run([sys.executable, "-I", "-c", code, *words], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "0 [] True", done


@pytest.mark.parametrize(("text", "supposed"), [("name=x\n", True), ("maxDiskUsage=100\n", False)])
def test_a_limit_that_another_file_may_set_is_supposed(
    call: Call, numbers: Callable[[object], None], tmp_path: Path, text: str, supposed: bool
) -> None:
    numbers(disk(250, 1000))
    (tmp_path / "some.properties").write_text(text)
    words = ["--config", str(tmp_path / "some.properties"), str(tmp_path), "--any-path"]
    said = "limit assumed: the rest of the configuration is not known"
    assert (said in call(*words)[1]) == supposed
    notes = json.loads(call(*words, "--format", "json")[1])["notes"]
    assert any("the limit is assumed" in note for note in notes) == supposed
    assert said not in call(*words, "--max-disk-usage", "80")[1]


def _plain(folder: Path) -> Path:
    return folder


def _empty_mount_point(folder: Path) -> Path:
    """Return the empty folder that a paging directory is when its file system is not mounted."""
    (folder / "paging").mkdir()
    return folder / "paging"


def _empty_journal(folder: Path) -> Path:
    (folder / "journal").mkdir()
    return folder / "journal"


def _other_files(folder: Path) -> Path:
    (folder / "notes.txt").write_text("no broker")
    (folder / "sub").mkdir()
    return folder


def _other_file(folder: Path) -> Path:
    (folder / "notes.txt").write_text("no broker")
    return folder / "notes.txt"


def _other_folder_of_an_instance(folder: Path) -> Path:
    home = instance(folder / "broker")
    (home / "log").mkdir()
    return home / "log"


def _unmounted_data(folder: Path) -> Path:
    home = instance(folder / "broker")
    shutil.rmtree(home / "data")
    (home / "data").mkdir()
    return home / "data"


NO_BROKER = (
    _plain, _empty_mount_point, _empty_journal, _other_files, _other_file, _other_folder_of_an_instance,
    _unmounted_data,
)  # fmt: skip


@pytest.mark.parametrize("words", [(), ("--max-disk-usage", "90"), ("--config",)], ids=["plain", "limit", "config"])
@pytest.mark.parametrize("make", NO_BROKER)
def test_a_path_that_is_no_broker_is_unknown(
    make: Callable[[Path], Path], words: tuple[str, ...], numbers: Callable[[object], None], tmp_path: Path
) -> None:
    # The usage of an unrelated file system must not be reported as the broker's.
    numbers(disk(900, 1000))
    folder = tmp_path / "somewhere"
    folder.mkdir()
    path = make(folder)
    if words == ("--config",):
        config = tmp_path / "kept.xml"
        config.write_text('<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>')
        words = ("--config", str(config))
    for command, more in (("check", ()), ("forecast", ("--state", str(tmp_path / "samples")))):
        refused = program.call("disk", command, path, *words, *more)
        assert (refused.status, "UNKNOWN" in refused.out) == (3, True), refused
        assert not (tmp_path / "samples").exists()
        if make is not _unmounted_data and "--config" not in words:
            assert "--any-path" in refused.out
            accepted = program.call("disk", command, path, *words, *more, "--any-path")
            assert accepted.status == 0, accepted


def test_what_belongs_to_a_broker_needs_no_option(numbers: Callable[[object], None], tmp_path: Path) -> None:
    numbers(disk(900, 1000))
    home = instance(tmp_path / "broker")
    GoldenCase("2.56.0", "basic").copy(tmp_path / "copy")
    data = tmp_path / "copy" / "data"
    for path in (
        home,
        home / "etc",
        home / "etc" / "broker.xml",
        home / "data",
        home / "data" / "journal",
        data,
        data / "paging",
        data / "journal",
        data / "bindings",
        next((data / "paging").iterdir()),
        next((data / "paging").glob("*/*.page")),
    ):
        for words in ((), ("--max-disk-usage", "95")):
            answer = program.call("disk", "check", path, *words)
            assert answer.status == 0, (path, answer)
