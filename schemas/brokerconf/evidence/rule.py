"""Definition of a rule: a module of ``rules`` with a ``RULE``, found by its file's name (docs/spec/settings.md 7).

A rule reads ``ConfigFacts`` alone and yields hits; severity, reason and advice come from the rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Fix, Position, Severity

if TYPE_CHECKING:
    from brokerconf.evidence.facts import ConfigFacts
    from brokerconf.evidence.host import PageFolder, Volume
    from brokerconf.evidence.resolved_setting import ResolvedSetting
    from brokerconf.reading.document import ConfigNode


class Hit(NamedTuple):
    """Place where a rule finds something.

    ``attribute``: the element's attribute that is meant. ``help`` and ``severity`` replace those of the rule. ``about``
    distinguishes several hits of one rule at one place. ``fix`` is a sure repair (``reading/repairs.py``). ``path``:
    the key of a property. ``stops_start``: as in the rule, for this place.
    """

    where: ResolvedSetting | ConfigNode | Position
    message: str
    help: str = ""
    attribute: str = ""
    about: str = ""
    severity: Severity | None = None
    fix: Fix | None = None
    path: str = ""
    stops_start: bool = False


Hits = Iterator[Hit]


def address_setting(match: str, **values: str) -> str:
    """Return the XML of an ``address-setting``.

    ``max_size_bytes="10M"`` becomes ``<max-size-bytes>10M</max-size-bytes>``.
    """
    inside = [f"<{name}>{text}</{name}>" for name, text in ((key.replace("_", "-"), values[key]) for key in values)]
    body = inside[0] if len(inside) == 1 else "".join(f"\n  {line}" for line in inside) + "\n"
    return f'<address-setting match="{match}">{body}</address-setting>\n'


class Example(NamedTuple):
    """Small configuration: ``core`` and ``settings`` are XML inside ``core`` and inside ``address-settings``.

    ``jms`` is the ``jms`` part of 1.x, ``properties`` a ``broker.properties`` beside the file, ``heap`` is in bytes;
    ``stores`` and ``volumes`` are what a data directory and a host would show.
    """

    settings: str = ""
    core: str = ""
    jms: str = ""
    edition: Edition = NEWEST
    properties: str = ""
    heap: int | None = None
    stores: tuple[PageFolder, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    # false where the schema refuses the example as well
    valid: bool = True


class Rule(NamedTuple):
    """Configuration check with its reason, advice and examples.

    ``since`` and ``until``: the editions to which it applies. ``by_edition``: its severity from an edition on.
    ``explains_schema``: its finding replaces the schema's at the same element. ``failing`` and ``passing`` build
    examples; linting does not call them. ``stops_start``: a broker does not start with what it finds. ``needs``:
    ``heap``, ``data`` or ``host`` if the file alone is not enough.
    """

    id: str
    severity: Severity
    title: str
    why: str
    help: str
    check: Callable[[ConfigFacts], Iterator[Hit]]
    failing: Callable[[], Example]
    passing: Callable[[], Example]
    settings: tuple[str, ...] = ()
    since: Edition | None = None
    until: Edition | None = None
    by_edition: tuple[tuple[Edition, Severity], ...] = ()
    explains_schema: bool = False
    stops_start: bool = False
    needs: str = ""

    def applies(self, edition: Edition) -> bool:
        """Return whether the rule applies to an edition."""
        return not ((self.since and edition < self.since) or (self.until and self.until < edition))

    def severity_in(self, edition: Edition) -> Severity:
        """Return the severity in an edition."""
        begun = [severity for first, severity in self.by_edition if first <= edition]
        return begun[-1] if begun else self.severity
