"""Beans of a configuration with entries of ``broker.properties`` applied one after the other.

A key is a path of names separated by dots; the last one is set. A collection creates a named entry that it lacks. The
broker remembers the collection that it went through, and an error leaves that state behind: the next key meets it
(docs/spec/properties.md 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from brokerconf.properties.outcomes import Fault, Outcome
from brokerconf.properties.values import Converted, Refusal, converted
from brokerconf.reading.property_entries import Entry
from brokerconf.schema.beans import ROOT, BeanProperty, beans
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.reading.document import ConfigNode

SURROUND = "key.surround"
REMOVE = "remove.value"
_COLLECTIONS = ("List", "Set", "Map")
_CLASS = ".class"
_NONE = "-"
_NAME = re.compile(r"[^.(\[]*")
_NO_CODE = re.compile(r"ENC\((?![+-]?[0-9a-fA-F]+\)$).*\)", re.DOTALL)
# what a class is made for that is named; nobody knows which are at hand
_PLUGINS = ("ActiveMQMetricsPlugin", "ActiveMQServerPlugin")
_NAMED = "NamedPropertyConfiguration"


class Bean:
    """Configuration bean, or a collection of beans by name.

    ``kind`` is ``bean``, ``List``, ``Set`` or ``Map``; ``made`` the class of its entries, if the broker creates any;
    ``held`` what was set, by property or by the name of an entry; ``entry`` the line that created it.
    """

    __slots__ = ("entry", "held", "kind", "made", "owner", "parent")

    def __init__(self, owner: str, kind: str = "bean", entry_class: str = "", parent: Bean | None = None) -> None:
        self.owner, self.kind, self.made, self.parent = owner, kind, entry_class, parent
        self.held: dict[str, object] = {}
        self.entry: Entry | None = None


class _Failure(Exception):
    def __init__(
        self, fault: Fault, message: str, owner: str = "", name: str = "", names: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.fault, self.said, self.owner, self.name, self.known = fault, message, owner, name, names


def apply(
    entries: Sequence[Entry], edition: Edition = NEWEST, root: Bean | None = None, *, own_codec: bool = False
) -> tuple[Bean, list[Outcome]]:
    """Apply the entries of one file; return the beans and each entry's outcome. ``root`` holds the beans from before.

    With ``own_codec`` the configuration names a password codec, and what ``ENC()`` may contain is unknown.
    """
    options = {entry.key: entry.value for entry in entries if entry.key in (SURROUND, REMOVE)}
    applying = _Application(edition, root or Bean(ROOT), options)
    broken = [entry for entry in entries if not own_codec and _NO_CODE.fullmatch(entry.value)]
    if broken:
        return applying.root, [Outcome(entry, Fault.CODE, "ENC() must contain hexadecimal digits") for entry in broken]
    outcomes = [applying.outcome(entry) for entry in entries if entry.key not in options]
    # what is taken away later on was not lost
    removed = {
        outcome.path: n
        for n, outcome in enumerate(outcomes)
        if outcome.applied and outcome.entry.value == applying.remove
    }
    for n, outcome in enumerate(outcomes if removed else ()):
        beginnings = (outcome.path[:end] for end in range(len(outcome.path) + 1))
        if outcome.fault is Fault.LOST and any(n < removed.get(path, -1) for path in beginnings):
            outcomes[n] = outcome._replace(fault=None)
    return applying.root, outcomes


def apply_all(entries: Iterable[Entry], edition: Edition = NEWEST, core: ConfigNode | None = None) -> list[Outcome]:
    """Return the outcomes of entries from several files and of system properties over a configuration."""
    return applied(entries, edition, core)[1]


def applied(
    entries: Iterable[Entry], edition: Edition = NEWEST, core: ConfigNode | None = None
) -> tuple[Bean, list[Outcome]]:
    """Apply all entries; return the beans and each entry's outcome.

    Files are applied one after the other; each has its own ``key.surround`` and ``remove.value``.
    """
    root = beans_of(core)
    codec = core is not None and core.descendant("password-codec") is not None
    results: list[Outcome] = []
    for _, group in groupby(entries, lambda entry: entry.position.file if entry.position.line else ""):
        root, outcomes = apply(list(group), edition, root, own_codec=codec)
        results += outcomes
    return root, results


# what an element of ha-policy makes, the innermost that is there; with a manager the one behind the stroke
_POLICIES = {
    "primary-only": "LiveOnly",
    "live-only": "LiveOnly",
    "colocated": "Colocated",
    "replication primary": "Replicated|ReplicationPrimary",
    "replication master": "Replicated|ReplicationPrimary",
    "replication backup": "Replica|ReplicationBackup",
    "replication slave": "Replica|ReplicationBackup",
    "replication colocated": "Colocated",
    "shared-store colocated": "Colocated",
    "shared-store primary": "SharedStorePrimary",
    "shared-store master": "SharedStorePrimary",
    "shared-store backup": "SharedStoreBackup",
    "shared-store slave": "SharedStoreBackup",
}


def beans_of(core: ConfigNode | None) -> Bean:
    """Return the beans that keys can reach only if the configuration has them: of a policy and of a database."""
    root = Bean(ROOT)
    policy = core.descendant("ha-policy") if core else None
    for above in policy.children if policy else ():
        for node in [*above.children, above]:
            names = f"{above.name} {node.name}" if node is not above else above.name
            plain, _, managed = _POLICIES.get(names, "").partition("|")
            if plain and "HAPolicyConfiguration" not in root.held:
                name = managed if managed and node.descendant("manager") else plain
                root.held["HAPolicyConfiguration"] = Bean(f"{name}PolicyConfiguration", parent=root)
    if core is not None and core.descendant("database-store"):
        root.held["storeConfiguration"] = Bean("DatabaseStorageConfiguration", parent=root)
    return root


class _Application:
    def __init__(self, edition: Edition, root: Bean, options: Mapping[str, str]) -> None:
        self.root, self.beans = root, beans(max(edition, Edition.ARTEMIS_2_28))
        self.names = {owner: tuple(properties) for owner, properties in self.beans.items()}
        self.surround, self.remove = options.get(SURROUND, '"'), options.get(REMOVE, "-")
        # the collections that were gone through: the property's name, and the bean that has it
        self.passed: list[tuple[str | None, Bean]] = []
        # how far into the key the broker got
        self.at = 0
        self.steps: list[str] = []
        self.entry: Entry | None = None

    def outcome(self, entry: Entry) -> Outcome:
        self.entry = entry
        self.steps.clear()
        outcome = self._outcome(entry)
        return outcome._replace(path=(*self.steps, *self._steps(entry.key, self.at)), at=self.at)

    def _outcome(self, entry: Entry) -> Outcome:
        try:
            return self._set(entry)
        except _Failure as no:
            meant = self._quoted(entry.key) if no.fault is Fault.UNKNOWN else None
            if meant is None:
                return Outcome(entry, no.fault, no.said, no.owner, no.name, None, no.known)
            return self._unquoted(entry, meant)
        except Refusal as no:
            return Outcome(entry, Fault.REFUSED, str(no))

    def _quoted(self, key: str) -> BeanProperty | None:
        """Return the property that the key would set if the names between first and last were quoted, or None."""
        collection, _, after_collection = key.partition(".")
        row = self.beans[ROOT].get(collection)
        name, _, last = after_collection.rpartition(".")
        return self.beans.get(row.made, {}).get(last) if row and "." in name and self.surround not in key else None

    def _unquoted(self, entry: Entry, meant: BeanProperty) -> Outcome:
        try:
            value = converted(meant, entry.value)
        except Refusal:
            value = Converted(None)
        return Outcome(entry, Fault.UNQUOTED, value.lost, meant.owner, meant.name, value.value)

    # the path

    def _next(self, path: str, at: int = 0) -> str:
        """Return the step of a path that begins at an offset, with its subscript or the marks around it."""
        mark = self.surround
        if mark and path.startswith(mark, at):
            end = path.find(mark, at + len(mark))
            return path[at : end + len(mark)] if end >= 0 else path[at : at + len(mark) - 1]
        name = _name(path, at)
        letter = path[at + len(name) : at + len(name) + 1]
        if letter not in ("(", "["):
            return name
        end = path.find(")" if letter == "(" else "]", at + len(name))
        return path[at : end + 1] if end >= 0 else path[at:]

    def _steps(self, path: str, at: int) -> Iterator[str]:
        while at < len(path):
            step = self._next(path, at)
            yield self._plain(step)
            behind = at + len(step)
            behind += path.startswith(".", behind)
            if behind == at:
                return
            at = behind

    def _plain(self, step: str) -> str:
        """Return the name in a step, without marks and subscript."""
        mark = self.surround
        if mark and step.startswith(mark) and step.endswith(mark):
            return step[len(mark) : len(step) - len(mark)]
        return _name(step)

    def _set(self, entry: Entry) -> Outcome:
        target: Bean = self.root
        key = entry.key
        self.at = 0
        while True:
            step = self._next(key, self.at)
            end = self.at + len(step)
            if self.at >= len(key) or end == len(key):
                break
            below = self._get(target, step)
            if not isinstance(below, Bean):
                name = self._plain(step)
                raise _Failure(Fault.UNKNOWN, f"{name} is a value and has no keys of its own", target.owner, name)
            end += key.startswith(".", end)
            if end == self.at:
                raise _Failure(Fault.UNKNOWN, f"{self.surround} without a closing one")
            self.steps.append(self._plain(step))
            target, self.at = below, end
        path = key[self.at :]
        if entry.value == self.remove:
            return self._removed(entry, target, path)
        return self._set_value(entry, target, path)

    def _get(self, bean: Bean, step: str) -> object:
        name = self._plain(step)
        if self.passed:
            of, _ = self.passed.pop()
            if bean.kind == "bean":
                raise _Failure(Fault.AFTER_ERROR, "the broker is still in the collection of the previous key")
            if name not in bean.held:
                bean.held[name] = self._entry(bean, of, name)
            entry = bean.held[name]
            return self._tracked(None, entry, entry)
        return self._tracked(step, self._property(bean, step, name), bean)

    def _tracked(self, of: str | None, value: object, host: object) -> object:
        if isinstance(value, Bean) and value.kind != "bean":
            assert isinstance(host, Bean)
            self.passed.append((of, host))
        return value

    def _entry(self, collection: Bean, of: str | None, name: str) -> Bean:
        """Return a new entry of a collection; raise ``_Failure`` if the collection cannot have it."""
        if not collection.made:
            raise _Failure(Fault.UNKNOWN, f"{of or collection.owner} accepts no keys below its own")
        if name.endswith(_CLASS) and collection.made not in _PLUGINS:
            raise _Failure(Fault.REFUSED, f"{name} is read as a class name, but the broker has no such class")
        entry = self._bean(collection.made, collection)
        if "w" in self._row(entry.owner, "name", access=True):
            entry.held["name"] = name
        return entry

    def _bean(self, owner: str, parent: Bean) -> Bean:
        inside = self.beans.get(owner, {}).get("*")
        bean = Bean(owner, "Set" if inside else "bean", inside.made if inside else "", parent)
        bean.entry = self.entry
        return bean

    def _row(self, owner: str, name: str, *, access: bool) -> str:
        row = self.beans.get(owner, {}).get(name)
        return row.access if row and access else ""

    def _required_row(self, bean: Bean, step: str, name: str) -> BeanProperty:
        row = self.beans.get(bean.owner, {}).get(name)
        if row is None or name == "*":
            names = self.names.get(bean.owner, ())
            raise _Failure(Fault.UNKNOWN, f"{_class_or_entry(bean)} has no {name or step}", bean.owner, name, names)
        return row

    def _property(self, bean: Bean, step: str, name: str) -> object:
        """Return what the getter of a property returns; missing beans and collections are created."""
        row = self._required_row(bean, step, name)
        if "r" not in row.access:
            raise _Failure(Fault.UNKNOWN, f"{name} has no keys below it", bean.owner, name)
        if name not in bean.held:
            if row.made == _NONE:
                raise _Failure(Fault.UNKNOWN, f"{name} has no entries until it is set as a whole", bean.owner, name)
            if row.type in _COLLECTIONS:
                bean.held[name] = Bean(row.type, row.type, row.made, bean)
            elif row.made:
                bean.held[name] = self._bean(row.made, bean)
            elif not row.words and row.type[:1].isupper() and row.type in self.beans:
                words = tuple(sorted(word[1:] for word in self.beans[row.type] if word.startswith("=")))
                raise _Failure(Fault.ABSENT, f"{name} has no type yet", bean.owner, name, words)
        value = bean.held.get(name)
        if step == name or step.startswith(self.surround or " "):
            return value
        if step[len(name)] == "(" and isinstance(value, Bean):
            inside = step[len(name) + 1 :].removesuffix(")")
            if inside in value.held:
                return value.held[inside]
            raise _Failure(Fault.ABSENT, f"{name} has no entry '{inside}' yet", bean.owner, name)
        raise _Failure(Fault.UNKNOWN, f"{step} does not name an existing entry", bean.owner, name)

    # the last step

    def _removed(self, entry: Entry, target: Bean, step: str) -> Outcome:
        name = self._plain(step)
        if self.passed:
            self.passed.pop()
        if target.kind != "bean":
            target.held.pop(name, None)
            return Outcome(entry, owner=target.owner, name=name)
        collection = self._get(target, step)
        if not isinstance(collection, Bean) or collection.kind == "bean":
            message = f"{self.remove} removes an entry or a whole collection, but {name} is a value"
            raise _Failure(Fault.REFUSED, message, target.owner, name)
        collection.held.clear()
        return Outcome(entry, owner=target.owner, name=name)

    def _set_value(self, entry: Entry, target: Bean, step: str) -> Outcome:
        name, text = self._plain(step), entry.value
        subscript = "" if step == name or step.startswith(self.surround or " ") else step[len(name) : len(name) + 1]
        if target.kind == "Map":
            if text.endswith(_CLASS):
                raise Refusal("a value that ends in .class is read as a class name")
            self._forget()
            target.held[name] = text
            whole = Fault.WHOLE if target.made else None
            return Outcome(entry, whole, "", target.owner, name, text)
        row = self._required_row(target, step, name)
        if subscript:
            raise _Failure(Fault.UNKNOWN, f"{step} does not name an existing entry", target.owner, name)
        if "w" not in row.access:
            raise _Failure(Fault.UNKNOWN, f"{name} is reported by the broker and cannot be set", target.owner, name)
        word_bean = self.beans.get(row.type, {}).get(f"={text}")
        plugin = row.type in _PLUGINS and row.type in self.beans and text.endswith(_CLASS)
        typed = any(word.startswith("=") for word in self.beans.get(row.type, {}))
        if typed and word_bean is None:
            words = sorted(word[1:] for word in self.beans[row.type] if word.startswith("="))
            raise _Failure(Fault.REFUSED, f"it accepts {', '.join(words)}", target.owner, name)
        try:
            if word_bean or plugin or row.type == _NAMED:
                value = Converted(self._of_word(word_bean.made if word_bean else row.type, target, text))
            else:
                value = converted(row, text)
        except Refusal as no:
            raise _Failure(Fault.REFUSED, str(no), target.owner, name) from None
        self._forget()
        return self._stored(entry, target, row, value)

    def _of_word(self, owner: str, parent: Bean, name: str) -> Bean:
        """Return the bean that a word creates; one made of properties gets that word as its name."""
        bean = self._bean(owner, parent)
        if owner == _NAMED:
            bean.held.update(name=name, properties=Bean("Map", "Map", "", bean))
        return bean

    def _stored(self, entry: Entry, target: Bean, row: BeanProperty, value: Converted) -> Outcome:
        name, kept = row.name, value.value
        if name == "name" and target.parent and target.parent.kind in ("List", "Set"):
            siblings = target.parent.held
            old: str | None = str(target.held.get("name"))
            if siblings.get(str(old)) is not target:
                old = next((key for key, item in siblings.items() if item is target), None)
            if old is not None:
                siblings[str(kept)] = siblings.pop(old)
        whole = row.type in _COLLECTIONS and row.made.removeprefix(_NONE)
        if row.type in _COLLECTIONS:
            collection = Bean(row.type, row.type, row.made.removeprefix(_NONE), target)
            items = kept.items() if isinstance(kept, dict) else ((item, item) for item in kept)  # type: ignore[attr-defined]
            collection.held.update(items)
            kept = collection
        target.held[name] = kept
        fault = Fault.WHOLE if whole else Fault.LOST if value.lost else None
        return Outcome(entry, fault, value.lost, target.owner, name, kept)

    def _forget(self) -> None:
        if self.passed:
            self.passed.pop()


def _name(path: str, at: int = 0) -> str:
    """Return the characters from an offset to the next dot or bracket."""
    name = _NAME.match(path, at)
    assert name
    return name[0]


def _class_or_entry(bean: Bean) -> str:
    return "the broker's configuration" if bean.owner == ROOT else f"{bean.owner}"
