"""Messaging servers in a configuration of JBoss EAP or WildFly, as the ``core`` of the broker inside.

HornetQ's servers are written with the broker's own elements. Those of Artemis are attributes under other names: they
become the elements that ``broker.xml`` would have, each of which keeps its position in the file
(docs/spec/config-behaviour.md 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brokerconf.reading.document import ConfigNode, Document, MessagingSubsystem
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.subsystems import Subsystem, subsystem_of, subsystem_settings
from pagefmt.findings import Position

_SERVERS = {"messaging": "hornetq-server", "messaging-activemq": "server"}


class MovedNode(ConfigNode):
    """Element of ``core`` that represents ``of``: its ``attribute``, or (empty) the whole element."""

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
        """Create an element ``name`` for a part of the element ``of``.

        ``written`` maps the attributes of this element to the names they have in the file; ``named`` is the text if
        ``attribute`` is not written there.
        """
        self.of, self.attribute, self.written = of, attribute, written or {}
        attributes = {name: of.attributes.get(original, "") for name, original in self.written.items()}
        super().__init__((name, name, ""), attributes, of.attributes.get(attribute, named), of.source, of.ordinal)

    def add(self, child: ConfigNode) -> None:
        """Append a child element, and set its parent if it is a moved one."""
        if isinstance(child, MovedNode):
            child.parent = self
        self.children.append(child)

    @property
    def position(self) -> Position:
        """Return the position of the attribute or element in the file."""
        return self.of.attribute_position(self.attribute) if self.attribute else self.of.position

    @property
    def text_position(self) -> Position:
        """Return the position of the attribute or element, because an attribute has only one."""
        return self.position

    def attribute_position(self, name: str) -> Position:
        """Return the position of an attribute under the name it has in the file."""
        return self.of.attribute_position(self.written.get(name, name))

    @property
    def path(self) -> str:
        """Return the path in the file, as ``/server/profile/subsystem/server/address-setting/@max-size-bytes``."""
        return f"{self.of.path}/@{self.attribute}" if self.attribute else self.of.path


def messaging_subsystems(root: ConfigNode) -> list[MessagingSubsystem]:
    """Return a file's messaging subsystems, without HornetQ's if any subsystem of Artemis is present."""
    subsystems = [
        MessagingSubsystem(kind, node, _profile(node))
        for node in root.walk()
        if node.name == "subsystem" and (kind := subsystem_of(node.namespace))
    ]
    return [subsystem for subsystem in subsystems if subsystem.kind.product != "messaging"] or subsystems


def subsystem_cores(subsystem: MessagingSubsystem) -> Iterator[ConfigNode]:
    """Yield each messaging server of a subsystem as the ``core`` element of a broker."""
    for server in subsystem.node.children_named(_SERVERS[subsystem.kind.product]):
        yield server if subsystem.kind.product == "messaging" else _as_core(server, subsystem.kind)


def leave_server(document: Document, profile: str | None, server: str | None = None) -> None:
    """Reduce a document to the servers of one profile, and to the server named ``server`` unless that is None.

    ``profile`` may be None if only one profile has messaging. Raises ``ReadingError`` if the choice is ambiguous or
    names nothing in the file.
    """
    names = list(dict.fromkeys(subsystem.profile for subsystem in document.subsystems))
    if profile is not None or len(names) > 1:
        if profile not in names:
            several = "more than one profile has messaging"
            raise _choose(document, "profile", several if profile is None else _none("profile", profile), names)
        document.subsystems = [subsystem for subsystem in document.subsystems if subsystem.profile == profile]
        document.cores = [core for subsystem in document.subsystems for core in subsystem_cores(subsystem)]
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
    """Return the name of the messaging server that a ``core`` represents."""
    return written_server(core).attributes.get("name", "default")


def written_server(core: ConfigNode) -> ConfigNode:
    """Return the element in the file that a ``core`` represents."""
    return core.of if isinstance(core, MovedNode) else core


def _profile(node: ConfigNode) -> str:
    above = next((above for above in node.ancestors() if above.name == "profile"), None)
    return above.attributes.get("name", "") if above else ""


def _as_core(server: ConfigNode, kind: Subsystem) -> MovedNode:
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
