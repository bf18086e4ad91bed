"""The schema of the operator's own broker: from a file, and from the jars of an installation."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from brokerconf.instance.detection import read_as_fits
from brokerconf.instance.installed import InstalledRelease, edition_of_instance, edition_of_release, named_by
from brokerconf.instance.own_schema import SchemaError, from_file, from_home
from brokerconf.reading.reading import read
from brokerconf.schema.validation import judge
from brokerconf.schema.xsd_writer import documents

from pagefmt.editions import NEWEST, Edition

NAMES = {"server.xsd": "artemis-server.xsd", "core.xsd": "artemis-configuration.xsd", "jms.xsd": "artemis-jms.xsd"}
GOOD = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><max-disk-usage>5</max-disk-usage></core>
</configuration>"""
BAD = GOOD.replace("max-disk-usage", "max-disk-usge")


def home(folder: Path, edition: Edition, *, imports: bool = True) -> Path:
    """Create an installation whose jar holds the edition's schemas under the broker's file names."""
    (folder / "lib").mkdir(parents=True)
    with zipfile.ZipFile(folder / "lib" / f"artemis-server-{edition.release}.jar", "w") as jar:
        for ours, theirs in NAMES.items():
            text = documents(edition)[ours]
            for name, named in NAMES.items():
                text = text.replace(f'"{name}"', f'"{named}"')
            text = text.replace('"../xml.xsd"', '"xml.xsd"')
            if ours == "server.xsd" and not imports:
                text = "\n".join(line for line in text.split("\n") if "xs:import" not in line)
            jar.writestr(f"schema/{theirs}", text)
    return folder


def config(folder: Path, text: str) -> Path:
    path = folder / "broker.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("imports", [True, False])
@pytest.mark.parametrize("edition", [Edition.ARTEMIS_1_5, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56])
def test_from_an_installation(tmp_path: Path, edition: Edition, imports: bool) -> None:
    schemas = from_home(home(tmp_path / "home", edition, imports=imports))
    assert schemas.edition is edition and edition.release in schemas.name
    assert judge(read(config(tmp_path, GOOD), edition=edition), schemas).document == ()
    verdict = judge(read(config(tmp_path, BAD), edition=edition), schemas)
    assert [one.rule for one in verdict.document] == ["cvc-complex-type.2.4.a"] == [one.rule for one in verdict.broker]


def test_from_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    for name, text in documents(Edition.ARTEMIS_2_56).items():
        (folder / name).write_text(text)
    schemas = from_file(folder / "server.xsd", Edition.ARTEMIS_2_56)
    assert schemas.name == "server.xsd"
    assert judge(read(config(tmp_path, GOOD)), schemas).document == ()
    assert judge(read(config(tmp_path, BAD)), schemas).document != ()


@pytest.mark.parametrize(
    "text", ["", "<a/>", "<xs:schema", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"]
)
def test_what_is_no_schema(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.xsd"
    path.write_text(text)
    with pytest.raises(SchemaError) as err:
        from_file(path, Edition.ARTEMIS_2_56)
    assert "\n" not in str(err.value) and "x.xsd" in str(err.value)


def test_no_installation(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="lib"):
        from_home(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "artemis-server-2.56.0.jar").write_bytes(b"no zip")
    with pytest.raises(SchemaError, match="jar"):
        from_home(tmp_path)


@pytest.mark.parametrize(
    ("release", "edition"),
    [
        ("2.56.0", "2.56"),
        ("2.55.1", "2.44"),
        ("2.31.2", "2.28"),
        ("2.28.0", "2.28"),
        ("2.19.1", "2.17"),
        ("1.3.0", "1.5"),
    ],
)
def test_the_edition_next_to_a_release(release: str, edition: str) -> None:
    assert edition_of_release(release).value == f"artemis-{edition}"


@pytest.mark.parametrize(
    ("jar", "edition"),
    [
        ("artemis-server-2.4.0.jar", "artemis-2.4"),
        ("artemis-server-2.28.0.redhat-00003.jar", "artemis-2.28"),
        ("hornetq-server-2.4.7.Final.jar", "hornetq-2.4"),
        ("hornetq-server-2.3.25.Final-redhat-1.jar", "hornetq-2.4"),
        ("hornetq-core-client.jar", "hornetq-2.4"),
        ("hornetq-server.jar", "hornetq-2.4"),
    ],
)
def test_the_broker_that_a_jar_names(jar: str, edition: str) -> None:
    found = named_by(jar)
    assert found is not None and found.edition.value == edition


@pytest.mark.parametrize("jar", ["artemis-commons-2.4.0.jar", "hornetq-native-2.4.7.Final.jar", "netty-4.1.0.jar"])
def test_other_jars_name_no_broker(jar: str) -> None:
    assert named_by(jar) is None


@pytest.mark.parametrize("jar", ["hornetq-server-2.4.7.Final.jar", "hornetq-server.jar"])
def test_an_instance_of_hornetq_is_not_artemis_2_4(tmp_path: Path, jar: str) -> None:
    lib, etc = tmp_path / "home" / "lib", tmp_path / "etc"
    lib.mkdir(parents=True)
    etc.mkdir()
    (lib / jar).touch()
    (etc / "artemis.profile").write_text(f"ARTEMIS_HOME='{tmp_path / 'home'}'\n")
    assert edition_of_instance(config(etc, GOOD)) is Edition.HORNETQ_2_4
    assert InstalledRelease(True, "2.4.7").edition is Edition.HORNETQ_2_4


def test_the_edition_of_an_instance(tmp_path: Path) -> None:
    installed = home(tmp_path / "home", Edition.ARTEMIS_2_28)
    etc = tmp_path / "broker" / "etc"
    etc.mkdir(parents=True)
    (etc / "artemis.profile").write_text(f"ARTEMIS_HOME='{installed}'\n")
    path = config(etc, GOOD)
    assert edition_of_instance(path) is Edition.ARTEMIS_2_28
    assert read_as_fits(path).edition is Edition.ARTEMIS_2_28


def test_without_an_instance_the_newest_that_fits(tmp_path: Path) -> None:
    fits_old = GOOD.replace("<max-disk-usage>5</max-disk-usage>", "<ha-policy><live-only/></ha-policy>")
    assert read_as_fits(config(tmp_path, GOOD)).edition is NEWEST
    assert read_as_fits(config(tmp_path, fits_old)).edition >= Edition.ARTEMIS_1_5
    assert read_as_fits(config(tmp_path, BAD)).reason == "no edition fits; this one gives the fewest errors"
