"""DIR, ``--config`` and ``ARTEMIS_INSTANCE``: from what was typed to the directories that a command works on.

DIR is what is read and written, and nothing else in its place. A configuration tells where the directories of an
instance lie; of a data directory, paging directory, store or page that was named it tells only what belongs to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import Flag, auto
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.starting import note_no_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError, describe
from pagectl.terminal.streams import note
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, configuration_in, locate, stores
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from brokerconf.instance.instance import Directories

    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pagefmt.storage.remote_paths import FarPath

NO_DIR = "no DIR given and ARTEMIS_INSTANCE is not set; name a broker instance or a data directory"
_NOT_ALONE = (
    "this command needs a broker's data directory; journal ls, stats, inspect and verify, and of a message journal "
    "messages ls, top, find, decode and verify, and export read journal files by themselves"
)
# how many folders above a page file its instance is at most: store, paging, data, instance
ABOVE = 4


class Alone(Flag):
    """Journal files that a command reads by themselves, without a data directory around them."""

    NONE = 0
    MESSAGES = auto()
    NAMES = auto()
    ALL = MESSAGES | NAMES

    def check(self, place: DataLocation) -> None:
        """Raise ``CallError`` if a place consists of other journal files by themselves."""
        if not place.kind.is_journal or (Alone.NAMES if place.journal is None else Alone.MESSAGES) in self:
            return
        what = f"{place.kind}, of bindings" if place.journal is None else str(place.kind)
        raise CallError(f"{place.given}: {what}; {_NOT_ALONE}")


class OpenedBroker(NamedTuple):
    """What DIR is, its directories, and the configuration that they come from (None: as found on disk).

    ``sources`` says for each directory where it comes from.
    """

    place: DataLocation
    configuration: BrokerConfiguration | None = None

    @property
    def sources(self) -> dict[str, str]:
        """Return the origin of each directory: a line of the configuration, a property, or the disk."""
        if self.configuration is not None:
            return dict(self.configuration.sources)
        return dict.fromkeys(("paging", "journal", "bindings", "large_messages"), "found on disk")


def located(
    directory: Path | None,
    options: BrokerOptions = BrokerOptions(),
    *,
    far: bool = False,
    find: Callable[[Path], DataLocation] = locate,
    pages_only: bool = False,
    alone: Alone = Alone.NONE,
) -> DataLocation:
    """Return the directories that DIR names, and note what DIR was taken for if that is not obvious.

    ``far`` also allows directories below a URL or inside an archive, which ``find`` locates. ``alone``: the
    journal files that are allowed by themselves, as a folder, such as a retention folder, or a single file.
    ``pages_only``: only
    records of pages and names of queues are shown, so that of a page with bindings and large messages beside it no
    configuration is read.
    """
    reading, pages_only = options.reading(), pages_only and options == BrokerOptions()
    broker = open_broker(directory, options.broker_xml, reading, far=far, find=find, pages_only=pages_only, alone=alone)
    return broker.place


def located_each(
    paths: list[Path], options: BrokerOptions, *, alone: Alone = Alone.NONE
) -> tuple[list[DataLocation], list[str]]:
    """Return the directories of each DIR, and of several the reasons why some cannot be opened.

    Raises ``CallError`` if the only DIR cannot be opened, or if options of one broker come with several.
    """
    if len(paths) < 2:
        return [located(paths[0] if paths else None, options, alone=alone)], []
    if options != BrokerOptions():
        raise CallError(
            "--config, --properties, --profile and --server work with one DIR only; every instance has its own"
        )
    places, failed = [], []
    for path in paths:
        try:
            places.append(located(path, alone=alone))
        except (CallError, PageFmtError, OSError) as err:
            failed.append(describe(err))
    return places, failed


def open_broker(
    directory: Path | None,
    broker_xml: Path | None,
    options: ConfigurationOptions,
    *,
    far: bool = False,
    find: Callable[[Path], DataLocation] = locate,
    pages_only: bool = False,
    alone: Alone = Alone.NONE,
) -> OpenedBroker:
    """Open the broker that DIR names, with the configuration of ``--config`` or its own.

    Notes a configuration with which no broker starts; data can be read and repaired without one. Raises ``CallError``
    if DIR and configuration disagree, ``LocateError``, and the errors of reading a configuration.
    """
    broker = _opened_broker(directory, broker_xml, options, far=far, find=find, pages_only=pages_only, alone=alone)
    if broker.configuration is not None:
        note_no_start(broker.configuration)
    return broker


def _opened_broker(
    directory: Path | None,
    broker_xml: Path | None,
    options: ConfigurationOptions,
    *,
    far: bool,
    find: Callable[[Path], DataLocation],
    pages_only: bool,
    alone: Alone,
) -> OpenedBroker:
    if directory is None and broker_xml is not None:
        configuration = opened(broker_xml, None, options)
        return _instance(configuration.root, configuration)
    path = directory or from_environment()
    if path is None:
        raise CallError(NO_DIR)
    from pagefmt.storage.remote_paths import FarPath, any_path

    path = any_path(path)
    if isinstance(path, FarPath):
        return _far(path, far=far, broker_xml=broker_xml, find=find, alone=alone)
    if broker_xml is not None:
        return _served(path, broker_xml, options)
    if configuration_in(path) is not None or is_configuration(path):
        configuration = opened(path, None, options)
        return _instance(path if path.is_dir() else configuration.root, configuration)
    return _data(path, options, pages_only=pages_only, alone=alone)


def _far(
    path: FarPath, *, far: bool, broker_xml: Path | None, find: Callable[[Path], DataLocation], alone: Alone
) -> OpenedBroker:
    """Return what is at a URL or in an archive, found by its usual names, because no configuration is read there."""
    if not far:
        raise CallError(
            f"{path}: this command works on local directories; export, pages ls, verify, outstanding, decode and find, "
            "and messages ls, verify, decode and find take URLs and archives"
        )
    if broker_xml is not None:
        raise CallError(f"{path}: --config works with a local DIR only; name the data directory itself")
    from tempfile import gettempdir

    place = find(path)
    alone.check(place)
    _note_kind(place)
    if path.compressed:
        note(f"{path}: is compressed; its contents are unpacked into an unnamed temporary file in {gettempdir()}")
    elif not path.in_archive:
        _note_no_locks()
    return OpenedBroker(place)


@cache
def _note_no_locks() -> None:
    """Note it. The cache makes it once for a process, however many brokers its command reads."""
    note("a broker's lock cannot be seen at a URL; make sure that no broker uses what is read there")


def is_configuration(path: Path) -> bool:
    """Return whether a path is a file with the ending of a configuration."""
    if not path.is_file():
        return False
    from brokerconf.instance.recognition import SUFFIXES

    return path.suffix.lower() in SUFFIXES


def from_environment() -> Path | None:
    """Return the instance that ``ARTEMIS_INSTANCE`` names, None if it is not set."""
    value = os.environ.get("ARTEMIS_INSTANCE")
    return Path(value) if value else None


def _instance(directory: Path, config: BrokerConfiguration) -> OpenedBroker:
    """Return an instance with the directories that its configuration sets, wherever they are."""
    place = DataLocation(directory, LocationKind.INSTANCE, *_existing(config.directories))
    if place.paging is None and place.journal is None:
        tried = config.directories.paging_candidates
        missing = "which does not exist" if len(tried) == 1 else "and none of these exists"
        raise CallError(
            f"{config.start.config}: it sets the paging directory {' or '.join(map(str, tried))} "
            f"({config.sources['paging']}), {missing}; name the data directory itself, or the configuration that is in "
            "force"
        )
    _note_apart(place, config)
    _note_base(config)
    return OpenedBroker(place, config)


def opened(path: Path, root: Path | None, options: ConfigurationOptions) -> BrokerConfiguration:
    """Return the configuration of an instance or file. Raise ``CallError`` if it cannot be read."""
    from brokerconf.errors import BrokerConfError

    from pagectl.opening.configuration import open_configuration

    try:
        return open_configuration(path, options, root=root)
    except BrokerConfError as err:
        raise CallError(f"{err}; to read pages without the configuration, name their data directory") from err


def _existing(configured: Directories) -> tuple[Path | None, Path | None, Path | None, Path | None]:
    def there(path: Path) -> Path | None:
        return path if path.is_dir() else None

    return (
        there(configured.paging),
        there(configured.journal),
        there(configured.bindings),
        there(configured.large_messages),
    )


def _note_apart(place: DataLocation, config: BrokerConfiguration) -> None:
    """Note where the pages are if the instance keeps them outside its own folder."""
    root = os.path.realpath(config.root)
    paging = place.paging
    if paging is None:
        note(
            f"{config.directories.paging}: no such directory; {config.sources['paging']} sets it as the paging "
            "directory"
        )
    elif not any(_inside(os.path.realpath(paging), folder) for folder in (root, os.path.realpath(place.given))):
        note(f"{place.given}: its pages are in {paging} ({config.sources['paging']})")


def _note_base(configuration: BrokerConfiguration) -> None:
    if configuration.base_remark:
        note(configuration.base_remark)


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder


def same(first: Path | None, second: Path | None) -> bool:
    """Return whether two paths name the same directory, after resolving links."""
    return first is not None and second is not None and os.path.realpath(first) == os.path.realpath(second)


def _data(path: Path, options: ConfigurationOptions, *, pages_only: bool, alone: Alone) -> OpenedBroker:
    """Open a data or paging directory, a store or a page as it is.

    Its instance's configuration, if it belongs to one, says where the other directories are. ``pages_only`` and
    ``alone`` as for ``located``.
    """
    place = locate(path)
    alone.check(place)
    complete = place.kind is LocationKind.PAGE and None not in (place.bindings, place.large_messages)
    config = None if pages_only and complete else _around(path, options)
    if config is not None and place.kind.is_journal:
        place = _with_names(place, config)
    _note_kind(place)
    if config is None or place.kind.is_journal:
        return OpenedBroker(place, config)
    if same(config.directories.paging, place.paging):
        return OpenedBroker(_beside(place, config), config)
    note(
        f"{config.start.config} sets the paging directory {config.directories.paging}; {place.paging or path} is read, "
        "as given"
    )
    return OpenedBroker(place)


def _note_kind(place: DataLocation) -> None:
    """Note what DIR was taken for if that is not obvious, and of journal files by themselves what is not known."""
    if place.obvious:
        return
    names = ""
    if place.kind.is_journal and place.journal is not None:
        with_names = f"names of queues are from {place.bindings}"
        without_names = "queues are shown by their ids, because there are no bindings beside it"
        names = f", without pages; {without_names if place.bindings is None else with_names}"
    note(f"{place.given} is read as {place.kind}{names}")


def _with_names(place: DataLocation, configuration: BrokerConfiguration) -> DataLocation:
    """Return journal files by themselves with the bindings and large messages of the instance that contains them."""
    _, _, bindings, large = _existing(configuration.directories)
    return place._replace(bindings=bindings if place.has_names_beside else place.bindings, large_messages=large)


def _beside(place: DataLocation, configuration: BrokerConfiguration) -> DataLocation:
    _, journal, bindings, large = _existing(configuration.directories)
    return place._replace(journal=journal, bindings=bindings, large_messages=large)


def _around(path: Path, options: ConfigurationOptions) -> BrokerConfiguration | None:
    """Return the configuration of the instance that contains ``path``, None if there is none.

    A configuration that cannot be read is noted and left out, because data are readable without it.
    """
    from brokerconf.errors import BrokerConfError

    root = instance_above(path)
    if root is None:
        return None
    from pagectl.opening.configuration import open_configuration

    try:
        return open_configuration(root, options)
    except (BrokerConfError, OSError) as err:
        note(f"{err}; continuing without that configuration")
        return None


def instance_above(path: Path) -> Path | None:
    """Return the nearest folder above ``path`` that is an instance with a configuration, None if there is none."""
    return next((folder for folder in _above(path) if configuration_in(folder) is not None), None)


def _above(path: Path) -> Iterator[Path]:
    yield from path.absolute().parents[:ABOVE]


def _served(path: Path, broker_xml: Path, options: ConfigurationOptions) -> OpenedBroker:
    """Open DIR with a configuration kept elsewhere; relative directories in it belong to DIR's instance."""
    place, configuration = configuration_for(path, broker_xml, options)
    configured = configuration.directories.paging
    if place is not None and same(configured, place.paging):
        if same(configuration.root, path):
            place = place._replace(kind=LocationKind.INSTANCE, obvious=True)
        return OpenedBroker(_beside(place, configuration), configuration)
    if place is not None and not configured.is_dir():
        note(
            f"{broker_xml} sets the paging directory {configured}, which does not exist; {place.paging or path} is read"
        )
        return OpenedBroker(place, configuration)
    return _instance(path, configuration)


def configuration_for(
    path: Path, broker_xml: Path, options: ConfigurationOptions
) -> tuple[DataLocation | None, BrokerConfiguration]:
    """Return what is at DIR by the usual names, and a configuration kept elsewhere, read as DIR's own.

    The first is None if nothing is there. Raises ``CallError`` if the configuration sets another paging directory than
    DIR's.
    """
    place = _own_layout(path)
    root = _root_for(path, place)
    configuration = opened(broker_xml, root, options)
    configured = configuration.directories.paging
    if configured.is_dir() and not (place is not None and same(configured, place.paging)):
        _check_agreement(path, place, root, configuration)
    return place, configuration


def _check_agreement(path: Path, place: DataLocation | None, root: Path, configuration: BrokerConfiguration) -> None:
    """Raise ``CallError`` unless DIR is an instance without pages, whose pages the configuration puts elsewhere.

    A paging directory inside another instance never belongs to DIR.
    """
    configured, source = configuration.directories.paging, configuration.sources["paging"]
    other = instance_above(configured)
    whole = place is None or (place.kind is LocationKind.DATA and not _holds_pages(place))
    if whole and (other is None or same(other, root)):
        return
    held = path if place is None else place.paging or place.store or path
    raise CallError(
        f"{path} and {configuration.start.config} disagree: DIR has its pages in {held}, "
        f"{source} sets {configured}; nothing was read: name one of the two"
    )


def _own_layout(path: Path) -> DataLocation | None:
    """Return what is at DIR by the usual names, None for an instance whose directories are all elsewhere."""
    try:
        return locate(path)
    except LocateError:
        if path.is_dir():
            return None
        raise


def _root_for(path: Path, place: DataLocation | None) -> Path:
    """Return the folder of DIR's instance: DIR itself, or the folder that contains it."""
    if configuration_in(path) is not None or place is None or (path / "etc").is_dir():
        return path.absolute()
    if place.kind is LocationKind.DATA and place.paging is not None and not same(place.paging.parent, path):
        return path.absolute()
    above = instance_above(path)
    if above is not None:
        return above
    data = place.paging.absolute().parent if place.paging is not None else path.absolute()
    return data.parent if data.name == "data" else data


def _holds_pages(place: DataLocation) -> bool:
    """Return whether there is a page file in the directories. An error counts as yes."""
    try:
        return any(store.pages for store in stores(place))
    except (PageFmtError, OSError):
        return True
