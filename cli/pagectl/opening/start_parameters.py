"""What a broker is started with, before its configuration is read: instance, start profile, properties, release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.shared import JournalType
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.instance.instance import Instance

BROKER_PROPERTIES = "broker.properties"


class StartParameters(NamedTuple):
    """What the start script hands to the broker. ``edition`` None: it is told by the configuration alone.

    ``release`` is that of the installation's jars, or empty; ``heap`` the JVM's maximum in bytes; ``system`` the
    system properties; ``files`` those of ``broker.properties``; ``sources`` say where edition, heap and journal come
    from; ``libaio``: a journal of type ASYNCIO is one.
    """

    instance: Instance
    edition: Edition | None
    release: str
    heap: int | None
    system: Mapping[str, str]
    files: tuple[Path, ...]
    cwd: Path | None
    sources: Mapping[str, str]
    libaio: bool

    @property
    def config(self) -> Path:
        """Return the path of the configuration file."""
        return self.instance.config


def start_parameters(
    path: Path, options: ConfigurationOptions, root: Path | None = None, *, alone: bool = False
) -> StartParameters:
    """Return the start parameters of an instance, or of the one that a configuration file belongs to.

    ``root`` is the instance for which a configuration kept elsewhere is used. ``alone`` says that files beside the
    configuration do not belong to its broker, which runs in a container. Raises ``BrokerConfError``.
    """
    from brokerconf.instance.installed import edition_run_by, release_of_home
    from brokerconf.instance.instance import Instance, find_instance

    instance = Instance(root or path.absolute().parent, path) if alone else find_instance(path, root)
    profile = str(instance.profile)
    sources = {}
    if options.edition is not None:
        sources["edition"] = "as requested"
    elif edition_run_by(instance):
        sources["edition"] = "the release of its instance"
    if options.heap or instance.heap:
        sources["heap"] = "--heap" if options.heap else f"{profile} -Xmx"
    libaio = alone or has_libaio() if options.journal is None else options.journal is JournalType.asyncio
    host = "images have" if alone else f"this host has{'' if libaio else ' no'}"
    sources["journal"] = "--journal-type" if options.journal else f"{host} libaio"
    return StartParameters(
        instance,
        options.edition or edition_run_by(instance),
        "" if options.edition or instance.home is None else release_of_home(instance.home),
        options.heap or instance.heap,
        {**instance.properties, **options.define},
        () if alone else _property_files(instance.config, options.properties),
        options.cwd,
        sources,
        libaio,
    )


def has_libaio() -> bool:
    """Return whether this host's linker can find libaio under the name that brokers load."""
    folders = ("lib", "lib64", "usr/lib", "usr/lib64", "lib/*", "usr/lib/*")
    return any(path.exists() for folder in folders for path in Path("/").glob(f"{folder}/libaio.so.1"))


def _property_files(config: Path, texts: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the property files named, else ``broker.properties`` beside the configuration if that is another file."""
    from brokerconf.reading.properties import SUFFIXES, property_files

    if texts:
        return tuple(file for text in texts for file in property_files(text))
    if config.suffix in SUFFIXES:
        return ()
    beside = config.parent / BROKER_PROPERTIES
    return (beside,) if beside.is_file() else ()
