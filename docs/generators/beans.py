"""``python docs/generators/beans.py``: writes ``facts/beans.csv``, the beans that ``broker.properties`` can reach.

Asks the classes of each release (``tests/oracle_java/BeanModel.java``) by their own introspection; needs Java, Maven
and the oracle's jars. A test marked ``broker`` makes the table anew and compares.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pagefmt.editions import Edition

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "schemas" / "brokerconf" / "facts" / "beans.csv"
SOURCE = ROOT / "tests" / "oracle_java" / "BeanModel.java"
HEAD = "class;property;type;made;access;odd;since;until"
# Since 2.44 a key may name a class to be made. The program cannot meet these beans, because it makes up its keys; read
# in ConfigurationImpl.
PLUGINS = "FileConfiguration;brokerPlugins;List;{};r;"
MADE_BY_CLASS_NAME = (
    PLUGINS.format("ActiveMQServerPlugin"),
    "ActiveMQMetricsPlugin;init;Map;;w;",
    "ActiveMQServerPlugin;init;Map;;w;",
    *(
        f"BroadcastEndpointFactory;=org.apache.activemq.artemis.api.core.{factory}.class;;{factory};;"
        for factory in ("JGroupsFileBroadcastEndpointFactory", "UDPBroadcastEndpointFactory")
    ),
    "JGroupsFileBroadcastEndpointFactory;channelName;String;;rw;",
    "JGroupsFileBroadcastEndpointFactory;file;String;;rw;",
    "UDPBroadcastEndpointFactory;groupAddress;String;;rw;",
    "UDPBroadcastEndpointFactory;groupPort;int;;rw;",
    "UDPBroadcastEndpointFactory;localBindAddress;String;;rw;",
    "UDPBroadcastEndpointFactory;localBindPort;int;;rw;",
)


def asked(release: str) -> list[str]:
    """Run the Java program ``BeanModel`` on the classes of a release, and return its distinct output lines, sorted."""
    sys.path.append(str(ROOT / "tests" / "support"))
    from broker_jars import class_path, compiled, logging_binding

    with tempfile.TemporaryDirectory() as folder:
        path = compiled(SOURCE, f"{class_path(release)}:{logging_binding()}", Path(folder))
        opened = "--add-opens=java.base/java.lang=ALL-UNNAMED"
        done = subprocess.run(
            ["java", "-Xmx500m", opened, "-cp", path, "BeanModel"], capture_output=True, text=True, check=True
        )
    return sorted(set(done.stdout.splitlines()))


def table(by_edition: dict[Edition, list[str]]) -> str:
    """All editions in one: a line holds from the edition ``since`` up to, not including, ``until``."""
    editions = sorted(by_edition)
    rows: list[str] = []
    for line in sorted({line for lines in by_edition.values() for line in lines}):
        since = None
        for edition in [*editions, None]:
            has = edition is not None and line in by_edition[edition]
            if has and since is None:
                since = edition
            elif not has and since is not None:
                rows.append(f"{line};{_named(since)};{_named(edition)}")
                since = None
    return "\n".join((HEAD, *rows)) + "\n"


def _named(edition: Edition | None) -> str:
    return edition.value.removeprefix("artemis-") if edition else ""


def made() -> str:
    """Build the bean table from the classes of 2.28 and later releases."""
    releases = [edition for edition in Edition if edition >= Edition.ARTEMIS_2_28]
    found = {edition: asked(edition.release) for edition in releases}
    # 2.28 sets properties of the configuration itself alone: what is odd about a setter is asked of the next one
    odd = {line.rpartition(";")[0]: line for line in found[Edition.ARTEMIS_2_44]}
    found[Edition.ARTEMIS_2_28] = [odd.get(line.rpartition(";")[0], line) for line in found[Edition.ARTEMIS_2_28]]
    for edition in releases:
        if edition >= Edition.ARTEMIS_2_44:
            found[edition] = [*filter(PLUGINS.format("").__ne__, found[edition]), *MADE_BY_CLASS_NAME]
    return table(found)


if __name__ == "__main__":
    TABLE.write_text(made(), "utf-8")
