"""Our schemas of messaging subsystems and those in WildFly's own jar: one verdict on sound and mutated documents."""

from __future__ import annotations

import random
import re
import subprocess
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from broker_jars import oracle
from brokerconf.reading.subsystems import Subsystem
from brokerconf.schema.schema_facts import members, root_type
from brokerconf.schema.xsd_writer import of_subsystem
from lxml import etree

pytestmark = pytest.mark.broker
WILDFLY = "39.0.1.Final"
ARTIFACT = "org.wildfly:wildfly-messaging-activemq-subsystem"
# has the schema of credential references, which that of the subsystem imports
CONTROLLER = "org.wildfly.core:wildfly-controller:31.0.0.Final"
VERSIONS = ("1.0", "2.0", "3.0", "4.0", "7.0", "9.0", "11.0", "13.0", "13.1", "14.0", "16.0", "17.0")
MUTANTS = 150
_WORDS = {"boolean": "true", "int": "7", "long": "8", "integer": "9", "double": "1.5", "float": "2.5"}
_WRONG = ("", "x", "-", "1.5", "TRUE", "99999999999999999999", "${a}", " 1 ", "+1")


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    oracle()
    folder = tmp_path_factory.mktemp("wildfly")
    for artifact in (f"{ARTIFACT}:{WILDFLY}", CONTROLLER):
        done = subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=folder,
        )
        if done.returncode:
            pytest.skip(f"{artifact} cannot be had: {done.stdout[-300:]}")
    for each in folder.glob("*.jar"):
        with zipfile.ZipFile(each) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"schema/[\w.-]*(?:messaging-activemq|credential-reference)[\w.-]*\.xsd", name):
                    (folder / Path(name).name).write_bytes(archive.read(name))
    return folder


class Documents:
    """Sound documents by the facts of a version, and mutants of them."""

    def __init__(self, subsystem: Subsystem, seed: int) -> None:
        self.subsystem, self.random = subsystem, random.Random(seed)
        self.members = members(subsystem)

    def sound(self) -> Any:
        return self.element("subsystem", root_type(self.subsystem))

    def element(self, name: str, kind: str) -> Any:
        made = etree.Element(f"{{{self.subsystem.namespace}}}{name}")
        choices: dict[str, int] = {}
        for inside, fact in self.members.get(kind, {}).items():
            needed = fact.use == "required" or (not inside.startswith("@") and fact.min != "0")
            if "choice" in fact.group and not inside.startswith("@"):
                needed = choices.setdefault(fact.group.partition("#")[0], len(choices)) < 0
            if not needed and self.random.random() > 0.4:
                continue
            if inside.startswith("@"):
                made.set(inside[1:], self.value(fact.type, fact.enum))
            elif fact.type_name:
                made.append(self.element(inside, fact.type_name))
        return made

    def value(self, kind: str, enum: str) -> str:
        return self.random.choice(enum.split("|")) if enum else _WORDS.get(kind, "some")

    def mutant(self, sound: Any) -> Any:
        changed = deepcopy(sound)
        every = list(changed.iter())
        chosen = self.random.choice(every)
        match self.random.randrange(7):
            case 0 if chosen.attrib:
                chosen.set(self.random.choice(list(chosen.attrib)), self.random.choice(_WRONG))
            case 1 if chosen.attrib:
                del chosen.attrib[self.random.choice(list(chosen.attrib))]
            case 2:
                chosen.set("no-such", "1")
            case 3 if len(chosen) > 1:
                chosen.insert(0, chosen[-1])
            case 4 if len(chosen):
                chosen.append(deepcopy(chosen[0]))
            case 5:
                etree.SubElement(chosen, f"{{{self.subsystem.namespace}}}no-such")
            case _:
                chosen.text = "text"
        return changed


@pytest.mark.parametrize("version", VERSIONS)
def test_verdicts_are_those_of_the_servers_schema(version: str, jar: Path) -> None:
    subsystem = Subsystem("messaging-activemq", version)
    path = jar / f"wildfly-messaging-activemq_{version.replace('.', '_')}.xsd"
    theirs = etree.XMLSchema(etree.parse(str(path)))
    ours = etree.XMLSchema(etree.fromstring(of_subsystem(subsystem).encode()))
    documents = Documents(subsystem, seed=int(version.replace(".", "")))
    verdicts = {True: 0, False: 0}
    for number in range(MUTANTS):
        sound = documents.sound()
        for document in (sound, documents.mutant(sound)):
            text = etree.tostring(document)
            verdict = theirs.validate(etree.fromstring(text))
            assert ours.validate(etree.fromstring(text)) == verdict, f"{number}: {text[:3000]!r}\n{theirs.error_log}"
            verdicts[verdict] += 1
    assert min(verdicts.values()) > MUTANTS // 4, verdicts
