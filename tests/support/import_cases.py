"""Files for ``artemis data imp``: what each of them holds stands in its name."""

from __future__ import annotations

from typing import Final

_BINDINGS: Final = (
    '<address-binding name="a" routing-types="ANYCAST,MULTICAST" id="1"/>'
    '<queue-binding address="a" name="q" filter-string="" routing-type="ANYCAST" id="2"/>'
    '<queue-binding address="a" name="q2" filter-string="" routing-type="MULTICAST" id="3"/>'
    '<queue-binding address="b" name="qb" filter-string="" routing-type="ANYCAST" id="4"/>'
)
_OLD: Final = (
    '<binding address="jms.queue.old" filter-string="" queue-name="jms.queue.old" id="1"/>'
    '<binding address="jms.topic.news" filter-string="__AMQX=-1" queue-name="jms.topic.news" id="2"/>'
    '<binding address="jms.topic.news" filter-string="color = \'red\'" queue-name="client.sub" id="3"/>'
    '<binding address="plain" filter-string="" queue-name="plain" id="4"/>'
)


def message(
    *queues: str,
    properties: str = "",
    body: str = "<![CDATA[AAAA]]>\n",
    type_: str = "bytes",
    more: str = "",
    large: bool = False,
) -> str:
    """Return a ``<message>`` element."""
    names = "".join(f'<queue name="{name}"/>' for name in queues)
    is_large = ' isLarge="true"' if large else ""
    return (
        f'<message id="1" priority="4" expiration="0" timestamp="0" type="{type_}"{more}>'
        f"<properties>{properties}</properties><queues>{names}</queues><body{is_large}>{body}</body></message>\n"
    )


def prop(name: str, value: str, kind: str) -> str:
    """Return a ``<property>`` element."""
    return f'<property name="{name}" value="{value}" type="{kind}"/>'


def journal(*messages: str, bindings: str = _BINDINGS, root: str = "activemq-journal", end: str | None = None) -> str:
    """Return a whole XML journal; ``end`` replaces the closing elements."""
    tail = f"</messages>\n</{root}>\n" if end is None else end
    return f'<?xml version="1.0"?>\n<{root}>\n<bindings>{bindings}</bindings>\n<messages>\n{"".join(messages)}{tail}'


def _known(value: str, queue: str = "q") -> str:
    return message(queue, properties=prop("_AMQ_DUPL_ID", value, "simple-string"))


_GOOD: Final = message("q")
IMPORTS: Final = {
    "sound": journal(_GOOD, message("q", "q2"), message("q2"), message("qb")),
    "old": journal(
        message("jms.queue.old"), message("client.sub", properties=prop("color", "red", "string")), message("plain"),
        bindings=_OLD,
    ),
    "hornetq": journal(message("jms.queue.old"), message("plain"), bindings=_OLD, root="hornetq-journal"),
    "no bindings": journal(_GOOD, message("q"), bindings=""),
    "unknown queue": journal(_GOOD, message("other"), _GOOD),
    "unknown second queue": journal(_GOOD, message("q", "other"), _GOOD),
    "no queue": journal(_GOOD, message(), _GOOD),
    "queues of two addresses": journal(_GOOD, message("q", "qb"), _GOOD),
    "queue twice": journal(message("q", "q")),
    "duplicates": journal(_known("1"), _known("2"), _known("1"), _known("1", "qb"), _GOOD),
    "null duplicate id": journal(message("q", properties=prop("_AMQ_DUPL_ID", "_AMQ_NULL", "bytes")), _GOOD),
    "no space behind the body": journal(_GOOD, message("q", body="<![CDATA[AAAA]]>")),
    "text in place of a section": journal(message("q", body="AAAA")),
    "pieces": journal(message("q", body="<![CDATA[AAAA]]>\n<![CDATA[BBBB]]>\n", large=True)),
    "pieces without space": journal(message("q", body="<![CDATA[AAAA]]><![CDATA[BBBB]]>\n", large=True)),
    "empty body": journal(message("q", body=""), message("q", body="<![CDATA[]]>\n")),
    "no base64": journal(_GOOD, message("q", body="<![CDATA[!!!!]]>\n"), _GOOD),
    "base64 of another alphabet": journal(_GOOD, message("q", body="<![CDATA[++//]]>\n"), _GOOD),
    "base64 cut": journal(message("q", body="<![CDATA[AAAAAA]]>\n")),
    "base64 padded": journal(message("q", body="<![CDATA[AAA=]]>\n"), message("q", body="<![CDATA[AA==]]>\n")),
    "integer": journal(_GOOD, message("q", properties=prop("n", "x", "integer")), _GOOD),
    "integer too large": journal(_GOOD, message("q", properties=prop("n", "2147483648", "integer"))),
    "null integer": journal(_GOOD, message("q", properties=prop("n", "_AMQ_NULL", "integer"))),
    "null boolean": journal(message("q", properties=prop("n", "_AMQ_NULL", "boolean"))),
    "float": journal(_GOOD, message("q", properties=prop("n", "1,5", "float")), _GOOD),
    "floats": journal(
        message("q", properties="".join(prop(f"n{n}", value, "double") for n, value in enumerate(
            ("NaN", "-Infinity", "1e3", ".5", "1.", " 2 ", "1f", "0x1p3", "3D"))))),
    "null double": journal(_GOOD, message("q", properties=prop("n", "_AMQ_NULL", "double"))),
    "bytes": journal(message("q", properties=prop("n", "AAAA", "bytes")), _GOOD),
    "bytes of another alphabet": journal(message("q", properties=prop("n", "!!", "bytes")), _GOOD),
    "no kind": journal(message("q", properties='<property name="n" value="x"/>'), _GOOD),
    "other type": journal(message("q", type_="sms"), _GOOD),
    "priority": journal(_GOOD, message("q").replace('priority="4"', 'priority="300"'), _GOOD),
    "odd priority": journal(_GOOD, message("q").replace('priority="4"', 'priority="12"'), _GOOD),
    "expired": journal(_GOOD, message("q").replace('expiration="0"', 'expiration="1000"')),
    "routing type": journal(_GOOD, bindings=_BINDINGS.replace('"MULTICAST"', '"BROADCAST"')),
    "no routing type": journal(_GOOD, bindings=_BINDINGS.replace(' routing-type="MULTICAST"', "")),
    "wildcards": journal(
        message("w"), bindings='<queue-binding address="a.#" name="w" filter-string="" routing-type="MULTICAST"/>'),
    "cut": journal(_GOOD, _GOOD, end='<message id="7" prio'),
    "cut in a message": journal(_GOOD, _GOOD, end='<message id="7" priority="4"><properties>'),
    "cut behind a message": journal(_GOOD, _GOOD, end=""),
    "prefix": journal(_GOOD).replace("<activemq-journal>", '<x:activemq-journal xmlns:x="urn:x">').replace(
        "</activemq-journal>", "</x:activemq-journal>").replace("<message ", "<x:message ").replace(
        "</message>", "</x:message>"),
    "latin": journal(message("q", properties=prop("n", "\u00e4", "string"))),
}  # fmt: skip
