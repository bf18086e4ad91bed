"""One way to open a broker: every command reads the directories and settings that are in force, and DIR alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from every_call import with_a_byte_changed
from golden_cases import GoldenCase, cases
from program import Answer, call, tree

CASE = GoldenCase("2.56.0", "scattered-acks")
DIRECTORIES = {
    "paging": "pagingDirectory",
    "journal": "journalDirectory",
    "bindings": "bindingsDirectory",
    "large-messages": "largeMessagesDirectory",
}
TAGS = {name: f"{name}-directory" for name in DIRECTORIES}
READING = (
    ("pages", "ls", "--format", "json"),
    ("pages", "outstanding", "--format", "json"),
    ("pages", "verify", "--format", "jsonl"),
    ("pages", "decode", "--format", "jsonl"),
    ("pages", "inspect", "--format", "jsonl"),
    ("pages", "compact", "--format", "json"),
    ("pages", "seal"),
)


@pytest.fixture(autouse=True)
def no_instance_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ARTEMIS_INSTANCE", raising=False)
    yield


def configuration(core: str = "") -> str:
    plain = "<large-messages-directory>data/large-messages</large-messages-directory>"
    core = core if "large-messages-directory" in core else core + plain
    return f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{core}</core></configuration>'


def paging(path: Path) -> str:
    return f"<paging-directory>{path}</paging-directory>"


def instance(folder: Path, core: str = "", *, with_data: bool = True) -> Path:
    """Create an instance with the given configuration, and the golden case's data at the default places if wanted."""
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "broker.xml").write_text(configuration(core))
    if with_data:
        CASE.copy(folder)
    return folder


def with_a_damaged_page(root: Path) -> Path:
    with_a_byte_changed(root / "data" / "paging", "000000002.page", -1)
    return root


def moved(root: Path, target: Path) -> dict[str, str]:
    """Move all four directories out of ``data``, and return the new path of each by its bean name."""
    target.mkdir()
    for name in DIRECTORIES:
        (root / "data" / name).rename(target / name)
    return {bean: str(target / name) for name, bean in DIRECTORIES.items()}


def by_properties(root: Path, beans: dict[str, str]) -> None:
    lines = "".join(f"{bean}={path}\n" for bean, path in beans.items())
    (root / "etc" / "broker.properties").write_text(lines)


def by_system_properties(root: Path, beans: dict[str, str]) -> None:
    defined = " ".join(f"-Dbrokerconfig.{bean}={path}" for bean, path in beans.items())
    (root / "etc" / "artemis.profile").write_text(f'JAVA_ARGS="-Xmx1G {defined}"\n')


def by_placeholders(root: Path, beans: dict[str, str]) -> None:
    elements = "".join(f"<{tag}>${{my.{name}}}</{tag}>" for name, tag in TAGS.items())
    (root / "etc" / "broker.xml").write_text(configuration(elements))
    defined = " ".join(f"-Dmy.{name}={beans[bean]}" for name, bean in DIRECTORIES.items())
    (root / "etc" / "artemis.profile").write_text(f"JAVA_ARGS='{defined}'\n")


MOVES = (by_properties, by_system_properties, by_placeholders)


def expected(words: tuple[str, ...], tmp_path: Path) -> Answer:
    """Run the command on the same directories at their default places."""
    return call(*words[:2], instance(tmp_path / "usual"), *words[2:])


def alike(text: str, tmp_path: Path) -> str:
    for folder in (tmp_path / "usual" / "data", tmp_path / "elsewhere"):
        text = text.replace(str(folder), "DATA")
    return text


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("words", READING, ids=lambda words: words[1])
def test_commands_read_where_the_instance_keeps_its_directories(
    tmp_path: Path, words: tuple[str, ...], move: object
) -> None:
    usual = expected(words, tmp_path)
    root = instance(tmp_path / "broker")
    assert callable(move)
    move(root, moved(root, tmp_path / "elsewhere"))
    found = call(*words[:2], root, *words[2:])
    assert (found.status, alike(found.out, tmp_path)) == (usual.status, alike(usual.out, tmp_path))
    assert f"its pages are in {tmp_path / 'elsewhere' / 'paging'}" in found.err


@pytest.mark.parametrize("move", MOVES)
def test_disk_commands_look_where_the_instance_keeps_its_directories(tmp_path: Path, move: object) -> None:
    root = instance(tmp_path / "broker")
    beans = moved(root, tmp_path / "elsewhere")
    assert callable(move)
    move(root, beans)
    usage = json.loads(call("disk", "usage", root, "--format", "json").out)
    usual = json.loads(call("disk", "usage", instance(tmp_path / "usual"), "--format", "json").out)
    assert usage["addresses"] == usual["addresses"] != []
    checked = json.loads(call("disk", "check", root, "--format", "json").out)
    assert checked["missing"] == []
    state = tmp_path / "samples"
    # whatever the disk under the tests is at
    assert call("disk", "forecast", root, "--state", state, "--max-disk-usage", "100").status == 0
    assert "scattered" in state.read_text() or usage["addresses"][0]["address"] in state.read_text()


@pytest.mark.parametrize("move", MOVES)
def test_compact_and_restore_change_what_the_instance_says(tmp_path: Path, move: object) -> None:
    root = instance(tmp_path / "broker")
    beans = moved(root, tmp_path / "elsewhere")
    assert callable(move)
    move(root, beans)
    before = tree(tmp_path / "elsewhere" / "paging")
    found = call("pages", "compact", root, "--in-place")
    assert found.status == 0, found.err
    assert f"writes {tmp_path / 'elsewhere' / 'paging'}" in found.err
    assert tree(tmp_path / "elsewhere" / "paging") != before
    put_back = call("pages", "restore", root)
    assert put_back.status == 0, put_back.err
    assert f"writes {tmp_path / 'elsewhere' / 'paging'}" in put_back.err
    after = tree(tmp_path / "elsewhere" / "paging")
    assert {name: row[0] for name, row in after.items()} == {name: row[0] for name, row in before.items()}


@pytest.mark.parametrize("move", MOVES)
def test_salvage_reads_where_the_instance_keeps_its_pages(tmp_path: Path, move: object) -> None:
    root = instance(tmp_path / "broker")
    assert callable(move)
    move(root, moved(with_a_damaged_page(root), tmp_path / "elsewhere"))
    found = call("pages", "salvage", root, "--out", tmp_path / "new", "--format", "json")
    assert found.status == 0, found.err
    written = json.loads(found.out)
    assert written["copied"] + len(written["stores"]) > 0
    assert written["wrote"] == str(tmp_path / "new")


def test_properties_as_files_and_folders(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker")
    beans = moved(root, tmp_path / "elsewhere")
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "1.properties").write_text("pagingDirectory=/nowhere\n")
    (folder / "2.json").write_text(json.dumps({"pagingDirectory": beans["pagingDirectory"]}))
    (folder / "ignored.txt").write_text("pagingDirectory=/nowhere\n")
    rest = tmp_path / "rest.properties"
    rest.write_text("".join(f"{bean}={path}\n" for bean, path in beans.items() if bean != "pagingDirectory"))
    for given in ((f"{folder}/,{rest}",), (folder, rest)):
        words = [word for each in given for word in ("--properties", each)]
        for command in ("ls", "outstanding"):
            assert call("pages", command, root, *words).status == 0
        assert "no address" not in call("pages", "ls", root, *words).out
    wrong = call("pages", "ls", root, "--properties", tmp_path / "none")
    assert wrong.status == 2 and str(tmp_path / "none") in wrong.err
    (folder / "3.yaml").write_text("pagingDirectory: /nowhere\n")
    assert "3.yaml:1" in call("pages", "ls", root, "--properties", folder).err


@pytest.mark.parametrize("command", ["ls", "outstanding", "verify", "decode", "compact", "seal", "inspect"])
def test_a_configuration_of_another_instance_is_an_error(tmp_path: Path, command: str) -> None:
    one = instance(tmp_path / "a")
    other = instance(tmp_path / "b")
    (other / "etc" / "broker.xml").write_text(configuration(paging(other / "data/paging")))
    before = tree(tmp_path)
    for given in (one, one / "data", one / "data" / "paging"):
        found = call("pages", command, given, "--config", other / "etc" / "broker.xml")
        assert (found.status, found.out) == (2, ""), given
        assert "disagree" in found.err and str(given) in found.err and f"{other}/data/paging" in found.err
    assert tree(tmp_path) == before


def test_disk_commands_refuse_a_configuration_of_another_instance(tmp_path: Path) -> None:
    one, other = instance(tmp_path / "a"), instance(tmp_path / "b")
    config = other / "etc" / "broker.xml"
    config.write_text(configuration(paging(other / "data/paging")))
    for words, status in ((("usage",), 2), (("check",), 3), (("forecast", "--state", tmp_path / "samples"), 3)):
        found = call("disk", *words, one, "--config", config)
        assert found.status == status
        assert "disagree" in found.out + found.err
    assert not (tmp_path / "samples").exists()


def test_a_data_directory_without_the_pages_that_were_moved_says_where_they_are(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker")
    beans = moved(root, tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "journal").rename(root / "data" / "journal")
    by_properties(root, {"pagingDirectory": beans["pagingDirectory"]})
    found = call("pages", "ls", root / "data")
    assert found.out == "no address has page files\n" and beans["pagingDirectory"] in found.err


@pytest.mark.parametrize("words", [("compact", "--in-place"), ("compact", "--out", "{new}"), ("restore",)])
def test_a_configuration_elsewhere_never_turns_a_change_to_its_own_instance(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    # Relative directories are relative to DIR; absolute ones of another instance are refused, also if DIR has no pages.
    one, other = instance(tmp_path / "a"), instance(tmp_path / "b")
    if words[0] == "restore":
        for root in (one, other):
            assert call("pages", "compact", root, "--in-place").status == 0
    said = [word.format(new=tmp_path / "new") for word in words]
    before = tree(other)
    found = call("pages", said[0], one, *said[1:], "--config", other / "etc" / "broker.xml")
    assert found.status == 0, found.err
    assert tree(other) == before
    (other / "etc" / "broker.xml").write_text(configuration(paging(other / "data/paging")))
    before = tree(other)
    empty = instance(tmp_path / "empty", with_data=False)
    for given in (one, empty):
        assert call("pages", said[0], given, *said[1:], "--config", other / "etc" / "broker.xml").status == 2
    assert tree(other) == before


@pytest.mark.parametrize("words", READING, ids=lambda words: words[1])
def test_a_configuration_kept_elsewhere_serves_dir(tmp_path: Path, words: tuple[str, ...]) -> None:
    usual = expected(words, tmp_path)
    root = instance(tmp_path / "broker")
    (root / "data" / "paging").rename(root / "pages")
    kept = tmp_path / "git" / "broker.xml"
    kept.parent.mkdir()
    kept.write_text(configuration("<paging-directory>pages</paging-directory>"))
    found = call(*words[:2], root, *words[2:], "--config", kept)
    shown = alike(found.out.replace(str(root / "pages"), "DATA/paging").replace(str(root / "data"), "DATA"), tmp_path)
    assert (found.status, shown) == (usual.status, alike(usual.out, tmp_path)), found.err


def test_dir_names_exactly_what_is_read(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", f"<paging-directory>{tmp_path}/other/paging</paging-directory>")
    CASE.copy(tmp_path / "second")
    (tmp_path / "second" / "data").rename(tmp_path / "other")
    store = next(path for path in (root / "data" / "paging").iterdir() if path.is_dir())
    page = min(store.glob("*.page"))
    for given in (root / "data", root / "data" / "paging", store, page):
        found = call("pages", "decode", given, "--format", "jsonl")
        assert found.status == 0 and found.out
        # of a page and the names of its queues no configuration has anything to say
        assert ("is read, as given" in found.err) == (given is not page)
    before = tree(tmp_path / "other")
    assert call("pages", "compact", root / "data", "--in-place").status == 0
    assert tree(tmp_path / "other") == before


def test_the_instance_around_tells_what_lies_beside_its_pages(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", f"<journal-directory>{tmp_path}/fast/journal</journal-directory>")
    (tmp_path / "fast").mkdir()
    (root / "data" / "journal").rename(tmp_path / "fast" / "journal")
    for given in (root, root / "data", root / "data" / "paging"):
        assert call("pages", "outstanding", given).status == 0, given


def test_the_environment_never_takes_the_place_of_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = instance(tmp_path / "a")
    monkeypatch.setenv("ARTEMIS_INSTANCE", str(instance(tmp_path / "b")))
    config = one / "etc" / "broker.xml"
    before = tree(tmp_path / "b")
    for words in ((one,), ("--config", config), (one / "data", "--config", config)):
        assert str(tmp_path / "a") in call("pages", "inspect", *words).out
    assert call("pages", "compact", "--config", config, "--in-place").status == 0
    assert tree(tmp_path / "b") == before


@pytest.mark.parametrize("text", ["<broken", "", "\xff\xfe"])
def test_a_configuration_that_cannot_be_read_beside_sound_data(tmp_path: Path, text: str) -> None:
    root = instance(tmp_path / "broker")
    (root / "etc" / "broker.xml").write_bytes(text.encode("latin-1"))
    for command in ("ls", "outstanding", "verify", "decode"):
        found = call("pages", command, root)
        assert (found.status, found.out) == (2, "")
        assert "name their data directory" in found.err and len(found.err.splitlines()) == 1
        assert call("pages", command, root / "data").status == 0
    assert call("disk", "usage", root / "data").status == 0


def test_relative_paths_and_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = instance(tmp_path / "broker")
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root)
    expected = call("pages", "decode", root, "--format", "jsonl").out
    for given in (".", "data", "data/paging", "../link", "etc/broker.xml", tmp_path / "link" / "data"):
        assert call("pages", "decode", given, "--format", "jsonl").out == expected, given
    for given in (".", "data", "data/paging", tmp_path / "link"):
        assert call("pages", "decode", given, "--format", "jsonl", "--config", "etc/broker.xml").out == expected


def test_a_copied_instance_is_not_the_one_that_its_profile_names(tmp_path: Path) -> None:
    original = instance(tmp_path / "original", "<paging-directory>${artemis.instance}/data/paging</paging-directory>")
    (original / "etc" / "artemis.profile").write_text(f"ARTEMIS_INSTANCE='{original}'\n")
    copy = tmp_path / "copy"
    instance(copy)
    for name in ("broker.xml", "artemis.profile"):
        (copy / "etc" / name).write_bytes((original / "etc" / name).read_bytes())
    before = tree(original)
    assert call("pages", "compact", copy, "--in-place").status == 0
    assert tree(original) == before


def test_what_is_not_there(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", with_data=False)
    for words in ((tmp_path / "nowhere",), (root,), ("--config", root / "etc" / "broker.xml")):
        found = call("pages", "ls", *words)
        assert (found.status, found.out) == (2, ""), words
    (root / "data" / "paging").mkdir(parents=True)
    assert call("pages", "ls", root).out == "no address has page files\n"


def test_two_layouts_in_one_folder_are_refused(tmp_path: Path) -> None:
    CASE.copy(tmp_path / "both")
    CASE.copy(tmp_path / "once")
    (tmp_path / "once" / "data" / "paging").rename(tmp_path / "both" / "paging")
    found = call("pages", "ls", tmp_path / "both")
    assert found.status == 2
    assert str(tmp_path / "both" / "paging") in found.err and str(tmp_path / "both" / "data" / "paging") in found.err


def test_writing_commands_name_what_they_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = with_a_damaged_page(instance(tmp_path / "broker"))
    monkeypatch.chdir(tmp_path)
    for words in (
        ("pages", "compact", root, "--out", "compacted"),
        ("pages", "salvage", root, "--out", "salvaged"),
        ("pages", "seal", root, "--to", "sealed.jsonl"),
        ("pages", "decode", root, "--to", "messages.jsonl"),
        ("pages", "decode", root, "--to", "messages.parquet"),
    ):
        found = call(*words)
        assert found.status in (0, 1), found.err
        assert str(tmp_path / words[-1]) in found.out + found.err, words


@pytest.mark.parametrize("move", MOVES)
def test_export_reads_where_the_instance_keeps_its_directories(tmp_path: Path, move: object) -> None:
    from pagectl.opening.fleet import open_fleet
    from pagectl.options.groups import BrokerOptions

    from pagefmt.storage.remote_paths import UnpackedArchives

    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    root = instance(tmp_path / "broker")
    beans = moved(root, tmp_path / "elsewhere")
    assert callable(move)
    move(root, beans)
    ((broker,), _) = open_fleet([str(root)], None, BrokerOptions(), UnpackedArchives())
    place = broker.place
    assert [str(place.paging), str(place.journal), str(place.bindings)] == [*beans.values()][:3]
    (tmp_path / "elsewhere" / "journal").rename(tmp_path / "gone")
    (root / "data" / "journal").mkdir()
    ((broker,), _) = open_fleet([str(root)], None, BrokerOptions(), UnpackedArchives())
    assert broker.place.journal is None


LIMITS = (
    "<address-settings><address-setting match='#'><address-full-policy>PAGE</address-full-policy>"
    "<max-size-bytes>{size}</max-size-bytes></address-setting></address-settings>"
)


def replayed(tmp_path: Path, config: Path, *words: str) -> dict[str, object]:
    """Replay steady traffic on one address and return the parsed JSON account."""
    trace = tmp_path / "trace.jsonl"
    if not trace.exists():
        assert call("replay", "generate", "slow-consumer", "--to", trace, "--messages", "200").status == 0
    found = call("replay", "run", trace, "--config", config, "--format", "json", *words)
    assert found.status == 0, found.err
    account: dict[str, object] = json.loads(found.out)
    return account


def setting(account: object, name: str) -> tuple[str, str]:
    assert isinstance(account, dict)
    for values in account["settings"].values():
        if name in values:
            return values[name]["value"], values[name]["source"]
    raise AssertionError(name)


def test_replay_decides_by_the_properties(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", LIMITS.format(size=1000000))
    properties = root / "etc" / "broker.properties"
    assert setting(replayed(tmp_path, root), "max-size-bytes")[0] == "1000000"
    properties.write_text('addressSettings."#".maxSizeBytes=20000\nglobalMaxSize=5M\n')
    plain = instance(tmp_path / "plain", LIMITS.format(size=20000) + "<global-max-size>5M</global-max-size>")
    for config in (root, root / "etc" / "broker.xml"):
        account = replayed(tmp_path, config)
        assert setting(account, "max-size-bytes") == ("20000", f"{properties}:1, match #")
        assert setting(account, "global-max-size") == (str(5 << 20), f"{properties}:2")
        assert account["addresses"] == replayed(tmp_path, plain)["addresses"]
    by_hand = replayed(tmp_path, root, "--set", "#:max-size-bytes=30000", "--set", "global-max-size=7M")
    assert setting(by_hand, "max-size-bytes")[0] == "30000"
    assert setting(by_hand, "global-max-size")[0] == str(7 << 20)
    older = replayed(tmp_path, root, "--edition", "artemis-2.17")
    assert setting(older, "max-size-bytes")[0] == "1000000"


def test_replay_decides_by_the_start_profile(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", LIMITS.format(size="${limit:1000000}"))
    profile = root / "etc" / "artemis.profile"
    profile.write_text('JAVA_ARGS="-Xmx64M -Dlimit=20000"\n')
    account = replayed(tmp_path, root)
    assert setting(account, "max-size-bytes")[0] == "20000"
    assert setting(account, "global-max-size")[0] == str(32 << 20)
    assert setting(replayed(tmp_path, root, "--heap", "1G"), "global-max-size")[0] == str(512 << 20)
    name = """brokerconfig.addressSettings.#.maxSizeBytes"""
    profile.write_text(f"JAVA_ARGS='-D{name}=30000'\n")
    assert setting(replayed(tmp_path, root), "max-size-bytes") == ("30000", f"-D{name}, match #")


def test_sweep_and_compare_decide_by_the_settings_in_force(tmp_path: Path) -> None:
    root = instance(tmp_path / "broker", LIMITS.format(size=1000000))
    (root / "etc" / "broker.properties").write_text('addressSettings."#".maxSizeBytes=20000\n')
    plain = instance(tmp_path / "plain", LIMITS.format(size=20000))
    loose = instance(tmp_path / "loose", LIMITS.format(size=1000000))
    replayed(tmp_path, plain)
    trace = tmp_path / "trace.jsonl"
    assert call("replay", "compare", trace, "--config", root, "--config", plain).status == 0
    assert call("replay", "compare", trace, "--config", root, "--config", loose).status == 1
    vary = ("--vary", "#:page-size-bytes=10K,20K", "--format", "json")
    for jobs in ("1", "2"):
        found = [
            call("replay", "sweep", trace, "--config", config, *vary, "--jobs", jobs).out for config in (root, plain)
        ]
        assert found[0] == found[1]
    properties = tmp_path / "other.properties"
    properties.write_text('addressSettings."#".maxSizeBytes=40000\n')
    assert setting(replayed(tmp_path, root, "--properties", str(properties)), "max-size-bytes")[0] == "40000"


@pytest.mark.parametrize(("layout", "version"), [("eap6", "hornetq-2.4.7"), ("hornetq", "hornetq-2.4.7")])
def test_older_servers_resolve_against_their_own_folder(tmp_path: Path, layout: str, version: str) -> None:
    case = next(case for case in cases(version))
    data = case.copy(tmp_path / "copy")
    expected = call("pages", "decode", data, "--format", "jsonl").out
    root = tmp_path / "server"
    if layout == "eap6":
        config = root / "configuration" / "standalone.xml"
        config.parent.mkdir(parents=True)
        data.rename(root / "data")
        for path in (root / "data").iterdir():
            path.rename(path.with_name("messaging" + path.name.replace("-", "")))
        server = '<subsystem xmlns="urn:jboss:domain:messaging:1.4"><hornetq-server/></subsystem>'
        config.write_text(f'<server xmlns="urn:jboss:domain:1.7"><profile>{server}</profile></server>')
    else:
        config = root / "config" / "hornetq-configuration.xml"
        config.parent.mkdir(parents=True)
        (root / "bin").mkdir()
        data.rename(root / "data")
        places = "".join(f"<{name}-directory>../data/{name}</{name}-directory>" for name in DIRECTORIES)
        config.write_text(f'<configuration xmlns="urn:hornetq">{places}</configuration>')
    for words in ((root,), (root / "data",), ("--config", config), (root / "data", "--config", config)):
        found = call("pages", "decode", *words, "--format", "jsonl")
        assert (found.out, found.status) == (expected, 0), (words, found.err)


def hornetq(folder: Path, at: str, written: str) -> Path:
    """Write a HornetQ configuration whose directories have the path ``written``, with their kind in place of ``{}``."""
    config = folder / at
    config.parent.mkdir(parents=True, exist_ok=True)
    places = "".join(f"<{name}-directory>{written.format(name)}</{name}-directory>" for name in DIRECTORIES)
    config.write_text(f'<configuration xmlns="urn:hornetq">{places}</configuration>')
    return config


STAND_ALONE = "config/stand-alone/non-clustered/hornetq-configuration.xml"
HORNETQ_LAYOUTS = {
    "beside": ("hornetq-configuration.xml", "data/{}", "data", None),
    "config": ("config/hornetq-configuration.xml", "data/{}", "config/data", None),
    "above": ("config/hornetq-configuration.xml", "data/{}", "data", None),
    "installed": ("config/hornetq-configuration.xml", "../data/{}", "data", "run.sh"),
    "started in bin": ("config/hornetq-configuration.xml", "data/{}", "bin/data", "bootstrap.jar"),
    "stand-alone": (STAND_ALONE, "../data/{}", "data", "run.sh"),
    "no installation": ("config/hornetq-configuration.xml", "data/{}", "data", "other.sh"),
}


@pytest.mark.parametrize("layout", HORNETQ_LAYOUTS)
def test_relative_directories_of_hornetq_are_found(tmp_path: Path, layout: str) -> None:
    at, written, data, started_by = HORNETQ_LAYOUTS[layout]
    root = tmp_path / "server"
    copied = next(case for case in cases("hornetq-2.4.7")).copy(tmp_path / "copy")
    expected = call("pages", "decode", copied, "--format", "jsonl").out
    # a folder bin further up belongs to somebody else
    (tmp_path / "bin").mkdir()
    (root / data).parent.mkdir(parents=True, exist_ok=True)
    copied.rename(root / data)
    config = hornetq(root, at, written)
    if started_by:
        (root / "bin").mkdir(exist_ok=True)
        (root / "bin" / started_by).touch()
    ways: list[tuple[str | Path, ...]] = [(root / data,), (root / data, "--config", config)]
    if layout != "stand-alone":
        ways.append((root,))
    if layout not in ("above", "no installation"):
        ways.append(("--config", config))
    for words in ways:
        found = call("pages", "decode", *words, "--format", "jsonl")
        assert (found.out, found.status) == (expected, 0), (words, found.err)
    if layout == "stand-alone":
        return
    installed = started_by in ("run.sh", "bootstrap.jar")
    assert ("no file says where HornetQ runs" in call("pages", "ls", root).err) is not installed
    checked = json.loads(call("disk", "check", root, "--format", "json").out)
    assert checked["missing"] == [], checked


def test_directories_of_hornetq_that_are_nowhere_are_all_named(tmp_path: Path) -> None:
    config = hornetq(tmp_path, "config/hornetq-configuration.xml", "data/{}")
    (tmp_path / "bin").mkdir()
    for name in ("run.sh", None):
        if name:
            (tmp_path / "bin" / name).touch()
        else:
            (tmp_path / "bin" / "run.sh").unlink()
        tried = [tmp_path / "bin"] if name else []
        tried += [config.parent, tmp_path]
        for words, status in ((("pages", "ls"), 2), (("journal", "ls"), 2), (("disk", "check"), 3)):
            found = call(*words, tmp_path)
            assert found.status == status, found
            assert all(str(base / "data" / "paging") in found.out + found.err for base in tried), found


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    # An empty path comes from an unset variable of a script.
    calls = [
        "pages ls _",
        "config lint _",
        "config lint --baseline= .",
        "replay run _ --config x",
        "queue drop . q --out _",
    ]
    for words in [*calls, "messages top . _", "export _ --to x", "messages send _ --to amqp://localhost"]:
        answer = call(*(word.replace("_", "") for word in words.split()))
        assert answer.status == 2 and "the path is empty" in answer.err, answer
    assert call("disk", "check", "").status == 3
    empty = call("messages", "decode", tmp_path, "--where", "")
    assert "the path is empty" not in empty.err
