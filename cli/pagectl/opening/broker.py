"""DIR, ``--config`` and ``ARTEMIS_INSTANCE``: from what was typed to the directories that a command works on.

DIR is what is read and written, and nothing else in its place. A configuration tells where the directories of an
instance lie; of a data directory, paging directory, store or page that was named it tells only what belongs to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.starting import note_no_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError, describe
from pagectl.terminal.streams import note
from pagefmt.bytes.far_paths import FarPath, any_path
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, configuration_in, locate, stores
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from brokerconf.instance.instance import Directories

    from pagectl.opening.configuration import BrokerConfiguration

NO_DIR = "no DIR given and ARTEMIS_INSTANCE is not set; name a broker instance or a data directory"
ABOVE = 4
"""So many folders above a page file lies its instance: store, paging, data, instance."""


class OpenedBroker(NamedTuple):
    """What DIR is, its directories, and the configuration that they come from (None: as found on disk).

    ``sources`` says for each directory where it comes from.
    """

    place: DataLocation
    configuration: BrokerConfiguration | None = None

    @property
    def sources(self) -> dict[str, str]:
        """Where each directory comes from: a line of the configuration, a property, or what was found on disk."""
        if self.configuration is not None:
            return dict(self.configuration.sources)
        return dict.fromkeys(("paging", "journal", "bindings", "large_messages"), "found on disk")


def located(
    given: Path | None, options: BrokerOptions = BrokerOptions(), *, far: bool = False,
    find: Callable[[Path], DataLocation] = locate,
) -> DataLocation:  # fmt: skip
    """The directories that a command was pointed at, with a note where it is not obvious what DIR was taken for.

    ``far``: also those below a URL or inside of an archive, which ``find`` looks for.
    """
    return open_broker(given, options.broker_xml, options.reading(), far=far, find=find).place


def located_each(paths: list[Path], options: BrokerOptions) -> tuple[list[DataLocation], list[str]]:
    """Return the directories of each DIR, and of several the reasons why some cannot be opened.

    Raises ``CallError`` if the only DIR cannot be opened, or if options of one broker come with several.
    """
    if len(paths) < 2:
        return [located(paths[0] if paths else None, options)], []
    if options != BrokerOptions():
        raise CallError(
            "--config, --properties, --profile and --server work with one DIR only; every instance has its own"
        )
    places, failed = [], []
    for path in paths:
        try:
            places.append(located(path))
        except (CallError, PageFmtError, OSError) as err:
            failed.append(describe(err))
    return places, failed


def open_broker(
    given: Path | None, broker_xml: Path | None, options: ConfigurationOptions, *, far: bool = False,
    find: Callable[[Path], DataLocation] = locate,
) -> OpenedBroker:  # fmt: skip
    """Open what DIR names, with the configuration of ``--config`` or its own.

    Notes a configuration with which no broker starts: data are read and mended all the same. Raises ``CallError`` where
    the two disagree, ``LocateError``, and what reading a configuration raises.
    """
    broker = _opened_broker(given, broker_xml, options, far=far, find=find)
    if broker.configuration is not None:
        note_no_start(broker.configuration)
    return broker


def _opened_broker(
    given: Path | None, broker_xml: Path | None, options: ConfigurationOptions, *, far: bool,
    find: Callable[[Path], DataLocation],
) -> OpenedBroker:  # fmt: skip
    if given is None and broker_xml is not None:
        found = opened(broker_xml, None, options)
        return _instance(found.root, found)
    path = given or from_environment()
    if path is None:
        raise CallError(NO_DIR)
    path = any_path(path)
    if isinstance(path, FarPath):
        return _far(path, far=far, broker_xml=broker_xml, find=find)
    if broker_xml is not None:
        return _served(path, broker_xml, options)
    if configuration_in(path) is not None or is_configuration(path):
        found = opened(path, None, options)
        return _instance(path if path.is_dir() else found.root, found)
    return _data(path, options)


def _far(
    path: FarPath, *, far: bool, broker_xml: Path | None, find: Callable[[Path], DataLocation]
) -> OpenedBroker:  # fmt: skip
    """What is no local directory: found by its usual names, because no configuration is read there."""
    if not far:
        raise CallError(
            f"{path}: this command works on local directories; export, pages ls, verify, outstanding, decode and find, "
            "and messages ls, verify, decode and find take URLs and archives"
        )
    if broker_xml is not None:
        raise CallError(f"{path}: --config works with a local DIR only; name the data directory itself")
    from tempfile import gettempdir

    place = find(path)
    if not place.obvious:
        note(f"{path} is read as {place.kind}")
    if path.compressed:
        note(f"{path}: is compressed; its contents are unpacked into an unnamed temporary file in {gettempdir()}")
    elif not path.in_archive:
        _note_no_locks()
    return OpenedBroker(place)


@cache
def _note_no_locks() -> None:
    """Once, however many brokers there are."""
    note("a broker's lock cannot be seen at a URL; make sure that no broker uses what is read there")


def is_configuration(path: Path) -> bool:
    """Whether it is a file, named as configurations are."""
    if not path.is_file():
        return False
    from brokerconf.instance.recognition import SUFFIXES

    return path.suffix.lower() in SUFFIXES


def from_environment() -> Path | None:
    """The instance that ``ARTEMIS_INSTANCE`` names."""
    value = os.environ.get("ARTEMIS_INSTANCE")
    return Path(value) if value else None


def _instance(given: Path, found: BrokerConfiguration) -> OpenedBroker:
    """An instance: the directories that its configuration says, wherever they lie."""
    place = DataLocation(given, LocationKind.INSTANCE, *_existing(found.directories))
    if place.paging is None and place.journal is None:
        tried = found.directories.paging_candidates
        missing = "which does not exist" if len(tried) == 1 else "and none of these exists"
        raise CallError(
            f"{found.start.config}: it sets the paging directory {' or '.join(map(str, tried))} "
            f"({found.sources['paging']}), {missing}; name the data directory itself, or the configuration that is in "
            "force"
        )
    _note_apart(place, found)
    _note_base(found)
    return OpenedBroker(place, found)


def opened(path: Path, root: Path | None, options: ConfigurationOptions) -> BrokerConfiguration:
    """The configuration of an instance or file; raises ``CallError`` where it cannot be read."""
    from brokerconf.errors import BrokerConfError

    from pagectl.opening.configuration import open_configuration

    try:
        return open_configuration(path, options, root=root)
    except BrokerConfError as err:
        raise CallError(f"{err}; to read pages without the configuration, name their data directory") from err


def _existing(found: Directories) -> tuple[Path | None, Path | None, Path | None, Path | None]:
    def there(path: Path) -> Path | None:
        return path if path.is_dir() else None

    return there(found.paging), there(found.journal), there(found.bindings), there(found.large_messages)


def _note_apart(place: DataLocation, found: BrokerConfiguration) -> None:
    """Says where the pages are when the instance keeps them outside of its own folder."""
    root = os.path.realpath(found.root)
    paging = place.paging
    if paging is None:
        note(
            f"{found.directories.paging}: no such directory; {found.sources['paging']} sets it as the paging directory"
        )
    elif not any(_inside(os.path.realpath(paging), folder) for folder in (root, os.path.realpath(place.given))):
        note(f"{place.given}: its pages are in {paging} ({found.sources['paging']})")


def _note_base(found: BrokerConfiguration) -> None:
    if found.base_remark:
        note(found.base_remark)


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder


def same(one: Path | None, other: Path | None) -> bool:
    """Whether two paths name one directory, through links as well."""
    return one is not None and other is not None and os.path.realpath(one) == os.path.realpath(other)


def _data(path: Path, options: ConfigurationOptions) -> OpenedBroker:
    """A data or paging directory, a store or a page: itself; what lies beside it as its instance says."""
    place = locate(path)
    found = _around(path, options)
    if not place.obvious:
        note(f"{place.given} is read as {place.kind}")
    if found is None:
        return OpenedBroker(place)
    if same(found.directories.paging, place.paging):
        return OpenedBroker(_beside(place, found), found)
    note(
        f"{found.start.config} sets the paging directory {found.directories.paging}; {place.paging or path} is read, "
        "as given"
    )
    return OpenedBroker(place)


def _beside(place: DataLocation, found: BrokerConfiguration) -> DataLocation:
    _, journal, bindings, large = _existing(found.directories)
    return place._replace(journal=journal, bindings=bindings, large_messages=large)


def _around(path: Path, options: ConfigurationOptions) -> BrokerConfiguration | None:
    """The configuration of the instance that holds ``path``; sound data are read without one that is not."""
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
    """The nearest folder above ``path`` that is an instance with a configuration."""
    return next((folder for folder in _above(path) if configuration_in(folder) is not None), None)


def _above(path: Path) -> Iterator[Path]:
    yield from path.absolute().parents[:ABOVE]


def _served(path: Path, broker_xml: Path, options: ConfigurationOptions) -> OpenedBroker:
    """DIR with a configuration that is kept elsewhere: relative directories belong to DIR's instance."""
    place, found = configuration_for(path, broker_xml, options)
    configured = found.directories.paging
    if place is not None and same(configured, place.paging):
        if same(found.root, path):
            place = place._replace(kind=LocationKind.INSTANCE, obvious=True)
        return OpenedBroker(_beside(place, found), found)
    if place is not None and not configured.is_dir():
        note(
            f"{broker_xml} sets the paging directory {configured}, which does not exist; {place.paging or path} is read"
        )
        return OpenedBroker(place, found)
    return _instance(path, found)


def configuration_for(
    path: Path, broker_xml: Path, options: ConfigurationOptions
) -> tuple[DataLocation | None, BrokerConfiguration]:
    """What lies at DIR by the usual names (None: nothing), and the configuration kept elsewhere as DIR's own.

    Raises ``CallError`` where the configuration's paging directory is another one than DIR's.
    """
    place = _own_layout(path)
    root = _root_for(path, place)
    found = opened(broker_xml, root, options)
    configured = found.directories.paging
    if configured.is_dir() and not (place is not None and same(configured, place.paging)):
        _check_agreement(path, place, root, found)
    return place, found


def _check_agreement(path: Path, place: DataLocation | None, root: Path, found: BrokerConfiguration) -> None:
    """DIR and a configuration that puts the pages elsewhere agree only where DIR is an instance without pages.

    A paging directory inside of another instance is never DIR's.
    """
    configured, source = found.directories.paging, found.sources["paging"]
    other = instance_above(configured)
    whole = place is None or (place.kind is LocationKind.DATA and not _holds_pages(place))
    if whole and (other is None or same(other, root)):
        return
    held = path if place is None else place.paging or place.store or path
    raise CallError(
        f"{path} and {found.start.config} disagree: DIR has its pages in {held}, "
        f"{source} sets {configured}; nothing was read: name one of the two"
    )


def _own_layout(path: Path) -> DataLocation | None:
    """What lies at DIR by the usual names; None for an instance whose directories all lie elsewhere."""
    try:
        return locate(path)
    except LocateError:
        if path.is_dir():
            return None
        raise


def _root_for(path: Path, place: DataLocation | None) -> Path:
    """The folder of DIR's instance: DIR, or the one that holds it."""
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
    """Whether there is a page file in what was named."""
    try:
        return any(store.pages for store in stores(place))
    except (PageFmtError, OSError):
        return True
