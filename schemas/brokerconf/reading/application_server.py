"""The messaging servers in a configuration of JBoss EAP or WildFly, seen as the ``core`` that the broker inside gets.

HornetQ's servers are written with the broker's own elements. Those of Artemis are attributes under other names: they
are moved to the elements that ``broker.xml`` would have, each of which still knows where it was written
(docs/spec/config-behaviour.md 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.subsystems import Subsystem, subsystem_of, subsystem_settings
from pagefmt.findings import Position

_SERVERS = {"messaging": "hornetq-server", "messaging-activemq": "server"}


class MovedNode(ConfigNode):
    """An element of ``core`` in place of ``of``: of its ``attribute``, or (empty) of the whole of it."""

    __slots__ = ("attribute", "of", "written")

    def __init__(
        self,
        name: str,
        of: ConfigNode,
        attribute: str = "",
        *,
        named: str = "",
        written: Mapping[str, str] | None = None,
    ) -> None:
        """``written``: the attributes that this element has, and the names that they have in the file."""
        self.of, self.attribute, self.written = of, attribute, written or {}
        attributes = {name: of.attributes.get(given, "") for name, given in self.written.items()}
        super().__init__((name, name, ""), attributes, of.attributes.get(attribute, named), of.source, of.ordinal)

    def add(self, child: ConfigNode) -> None:
        """Puts an element inside."""
        if isinstance(child, MovedNode):
            child.parent = self
        self.children.append(child)

    @property
    def position(self) -> Position:
        """Where the attribute or the element is written."""
        return self.of.attribute_position(self.attribute) if self.attribute else self.of.position

    @property
    def text_position(self) -> Position:
        """The same: an attribute has one place."""
        return self.position

    def attribute_position(self, name: str) -> Position:
        """Where an attribute of the element is written."""
        return self.of.attribute_position(self.written.get(name, name))

    @property
    def path(self) -> str:
        """As ``/server/profile/subsystem/server/address-setting/@max-size-bytes``."""
        return f"{self.of.path}/@{self.attribute}" if self.attribute else self.of.path


class MessagingSubsystem(NamedTuple):
    """A subsystem in a file; ``profile`` is the name of the profile it stands in, or empty."""

    kind: Subsystem
    node: ConfigNode
    profile: str

    def cores(self) -> Iterator[ConfigNode]:
        """The servers in it, as ``core`` of their broker."""
        for server in self.node.children_named(_SERVERS[self.kind.product]):
            yield server if self.kind.product == "messaging" else _moved(server, self.kind)


def messaging_subsystems(root: ConfigNode) -> list[MessagingSubsystem]:
    """Those of a file; HornetQ's are left out beside those of Artemis, which run in their place."""
    found = [
        MessagingSubsystem(kind, node, _profile(node))
        for node in root.walk()
        if node.name == "subsystem" and (kind := subsystem_of(node.namespace))
    ]
    return [each for each in found if each.kind.product != "messaging"] or found


def leave_server(document: Document, profile: str | None, server: str | None = None) -> None:
    """Leaves the servers of one profile: of that asked for, else of the only one that has any; and of these the one
    named ``server``, where that is asked for. Raises ``ReadingError``."""
    names = list(dict.fromkeys(each.profile for each in document.subsystems))
    if profile is not None or len(names) > 1:
        if profile not in names:
            several = "more than one profile has messaging"
            raise _choose(document, "profile", several if profile is None else _none("profile", profile), names)
        document.subsystems = [each for each in document.subsystems if each.profile == profile]
        document.cores = [core for each in document.subsystems for core in each.cores()]
    if server is not None:
        cores = document.cores if document.kind.of_application_server else []
        document.cores = [core for core in cores if name_of(core) == server]
        if not document.cores:
            raise _choose(document, "server", _none("server", server), list(map(name_of, cores)))


def _none(what: str, name: str) -> str:
    return f"no {what} '{name}' has messaging"


def _choose(document: Document, what: str, message: str, names: list[str]) -> ReadingError:
    listed = f"{what}s with messaging: {', '.join(names) or 'none'}"
    return ReadingError(what, document.root.position, f"{message}: name one with --{what}", listed)


def name_of(core: ConfigNode) -> str:
    """The name of the messaging server that a ``core`` stands for."""
    return written_server(core).attributes.get("name", "default")


def written_server(core: ConfigNode) -> ConfigNode:
    """The element of the file that a ``core`` stands for."""
    return core.of if isinstance(core, MovedNode) else core


def _profile(node: ConfigNode) -> str:
    above = next((above for above in node.ancestors() if above.name == "profile"), None)
    return above.attributes.get("name", "") if above else ""


def _moved(server: ConfigNode, kind: Subsystem) -> MovedNode:
    core = MovedNode("core", server)
    renamed: dict[str, str] = {}
    for row in subsystem_settings(kind):
        holder = server.child(row.element) if row.element else server
        if row.scope == "address":
            renamed[row.attribute] = row.setting
        elif holder is not None and row.attribute in holder.attributes:
            core.add(MovedNode(row.setting, holder, row.attribute))
    for block in (_address_settings(server, renamed), _destinations(server), _queues(server)):
        if block.children:
            core.add(block)
    return core


def _address_settings(server: ConfigNode, renamed: Mapping[str, str]) -> MovedNode:
    block = MovedNode("address-settings", server)
    for node in server.children_named("address-setting"):
        setting = MovedNode("address-setting", node, written={"match": "name"})
        for name in node.attributes:
            if name != "name":
                setting.add(MovedNode(renamed.get(name, name), node, name))
        block.add(setting)
    return block


def _destinations(server: ConfigNode) -> MovedNode:
    block = MovedNode("jms-destinations", server)
    for node in server.children:
        if node.name in ("jms-queue", "jms-topic"):
            block.add(node)
    return block


def _queues(server: ConfigNode) -> MovedNode:
    block = MovedNode("queues", server)
    for node in server.children_named("queue"):
        queue = MovedNode("queue", node, written={"name": "name"})
        queue.add(MovedNode("address", node, "queue-address"))
        block.add(queue)
    return block
