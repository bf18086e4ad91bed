"""Recognition of broker configurations and their form: by content, by name only if content cannot tell."""

from __future__ import annotations

import codecs
import re
from enum import Enum
from functools import cache
from pathlib import PurePath

from brokerconf.instance.instance import BROKER_XML, HORNETQ_XML
from brokerconf.reading.decoding import as_xml_says


class ConfigurationForm(Enum):
    """Format of a configuration; ``KUBERNETES`` is YAML or JSON of objects that contain one."""

    XML = "xml"
    PROPERTIES = "properties"
    JSON = "json"
    YAML = "yaml"
    KUBERNETES = "kubernetes"

    @property
    def of_objects(self) -> bool:
        """Return whether Kubernetes objects contain the configuration."""
        return self is ConfigurationForm.KUBERNETES


# The forms of ``broker.properties``.
PROPERTY_FORMS = (ConfigurationForm.PROPERTIES, ConfigurationForm.JSON, ConfigurationForm.YAML)

# Files that are examined when a folder is searched.
SUFFIXES = {
    ".xml": ConfigurationForm.XML,
    ".properties": ConfigurationForm.PROPERTIES,
    ".json": ConfigurationForm.JSON,
    ".yaml": ConfigurationForm.YAML,
    ".yml": ConfigurationForm.YAML,
}

_TEMPLATE_SUFFIXES = (
    ".j2",
    ".jinja",
    ".jinja2",
    ".tpl",
    ".tmpl",
    ".gotmpl",
    ".template",
    ".mustache",
    ".hbs",
    ".erb",
    ".ftl",
    ".epp",
)
_USERS = ("users and their passwords", "{} beside it")
_LOGGING = ("what the broker logs", "{} beside it")
# The other files of an instance by name: what each contains, and which file is meant instead.
OTHER_FILES = {
    "artemis-roles.properties": ("users and their roles", "{} beside it"),
    "artemis-users.properties": _USERS,
    "bootstrap.xml": ("what an instance starts", "the {} that its <server> names"),
    "hornetq-beans.xml": ("what a HornetQ server is made of", "{} beside it"),
    "hornetq-jms.xml": ("the queues, topics and connection factories of JMS", "{} beside it"),
    "hornetq-users.xml": _USERS,
    "jolokia-access.xml": ("who may call Jolokia", "{} beside it"),
    "log4j2.properties": _LOGGING,
    "log4j2-utility.properties": _LOGGING,
    "logging.properties": _LOGGING,
    "login.config": ("how users log in", "{} beside it"),
    "management.xml": ("who may use JMX", "{} beside it"),
}
# YAML of other programs: what it is, and what all is found in it
_OTHER_YAML = (
    ("a Docker Compose file", (r"^services:", r"^[ \t]+(?:image|build):")),
    ("an Ansible playbook", (r"^-[ \t]+(?:hosts:|name:.*\n[ \t]+hosts:)",)),
    ("a configuration of Spring Boot", (r"^spring:",)),
    ("a GitHub workflow", (r"^[\"']?on[\"']?:", r"^jobs:")),
)
_COMMON = {"configuration", "name", "provider"}
_NAMES = (BROKER_XML, HORNETQ_XML)

_BROKER_NAMESPACE = r"urn:(?:activemq|hornetq)(?::(?:core|jms))?"
_SERVER_NAMESPACE = "urn:jboss:domain:"
# fragments that stand alone without a name space
_FRAGMENTS = {"address-settings", "security-settings", "hornetq-server", "broker-connections"}
_OTHER_HORNETQ = ("hornetq-jms", "hornetq-users", "hornetq-beans")
_BEFORE_ROOT = r"(?s)\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>\s*)*"
_ROOT = r"""<(?:([\w.-]+):)?([\w.-]+)((?:[^<>"']|"[^"]*"|'[^']*')*)>"""
_XMLNS = r"""\sxmlns{}\s*=\s*["']([^"']*)["']"""
_KEY = r"""(?m)(?:^|[{,])[ \t-]*["']?"""
_OBJECT = _KEY.replace("{", "{{") + r"""{}["']?\s*:\s*["']?{}\b"""
_BROKER_OBJECT = _OBJECT.format("apiVersion", r"broker\.(?:amq\.io|arkmq\.org)")
_BROKER_KIND = _OBJECT.format("kind", "(?:ActiveMQArtemis(?:Address)?|Broker(?:Cluster)?)")
_BROKER_KINDS = {"ActiveMQArtemis", "ActiveMQArtemisAddress", "Broker", "BrokerCluster"}
_FILE_KINDS = {"ConfigMap", "Secret"}
_OBJECT_WITH_FILES = _OBJECT.format("kind", "(?:ConfigMap|Secret)")
# keys of ConfigMaps have at most 253 characters
_BROKER_FILE = r"""(?:[\w.-]{0,250}broker(?:-[\w.-]{1,250})?\.(?:xml|properties)|hornetq-configuration\.xml)["']?\s*:"""
_FILE_OF_BROKER = _KEY + _BROKER_FILE


def name_once_rendered(name: str) -> str:
    """Return the name of a file without the end that says that it is a template."""
    path = PurePath(name)
    return path.stem if path.suffix.lower() in _TEMPLATE_SUFFIXES else path.name


def form_of(name: str, raw: bytes) -> ConfigurationForm:
    """Return the form in which a named file is to be read: as recognised, else by its suffix, else XML.

    Standard input has no suffix: what begins like a Kubernetes object is one, and keys of a broker are properties.
    """
    if raw[:1] == b"<" and name.endswith(".xml"):
        return ConfigurationForm.XML
    name = name_once_rendered(name)
    suffix = PurePath(name).suffix.lower()
    form = recognised(name, raw) or SUFFIXES.get(suffix) or (ConfigurationForm.XML if suffix else _by_keys(raw))
    doubtful = form in (ConfigurationForm.JSON, ConfigurationForm.YAML) or not suffix
    return ConfigurationForm.KUBERNETES if doubtful and _is_object(raw) else form


def _by_keys(raw: bytes) -> ConfigurationForm:
    """Return the form of a text without a name, by the keys in it."""
    text = _plain_text(raw) or "<"
    if text.lstrip()[:1] != "<":
        if _json_keys().search(text):
            return ConfigurationForm.JSON
        if _yaml_keys().search(text):
            return ConfigurationForm.YAML
        if _property_keys().search(text):
            return ConfigurationForm.PROPERTIES
    return ConfigurationForm.XML


def other_file(name: str, raw: bytes) -> str:
    """Return what a file of an instance or another program is, and which file is meant; empty for any other file."""
    other = OTHER_FILES.get(PurePath(name).name)
    text = _plain_text(raw) if other is None and PurePath(name).suffix.lower() in (".yaml", ".yml") else None
    others = [
        what for what, all_of in _OTHER_YAML if text and all(re.search(f"(?m){pattern}", text) for pattern in all_of)
    ]
    if (other is None and not others) or recognised(name, raw) is not None:
        return ""
    if other is None:
        return f"it is {others[0]}, which is not read; name the {BROKER_XML} or the properties themselves"
    own = HORNETQ_XML if PurePath(name).name.startswith("hornetq-") else BROKER_XML
    return f"it says {other[0]}; name {other[1].format(own)}"


def recognised(name: str, raw: bytes) -> ConfigurationForm | None:
    """Return the form of a broker's configuration, or None for any other file.

    A malformed file is recognised as well if its readable part is a broker's.
    """
    text = _plain_text(raw)
    if text is None:
        return None
    path = PurePath(name)
    if text.lstrip()[:1] == "<":
        return ConfigurationForm.XML if _is_broker_xml(text, path.name) else None
    form = SUFFIXES.get(path.suffix.lower())
    if form is ConfigurationForm.XML:
        return form if path.name in _NAMES else None
    if form is ConfigurationForm.PROPERTIES:
        named = re.fullmatch(r"(?:.*[.-])?broker(?:[.-].*)?\.properties", path.name)
        return form if named or _property_keys().search(text) else None
    if form is not None and _holds_objects(text):
        return ConfigurationForm.KUBERNETES
    if form is ConfigurationForm.JSON:
        return form if _is_json_of_broker(text) else None
    return form if form is not None and _yaml_keys().search(text) else None


def _is_object(raw: bytes) -> bool:
    text = _plain_text(raw) or ""
    return text.lstrip()[:1] != "<" and all(re.search(_OBJECT.format(key, ""), text) for key in ("apiVersion", "kind"))


def _plain_text(raw: bytes) -> str | None:
    """Return the text with all its ASCII characters intact, which suffices for recognition; None for binary files."""
    if b"\0" not in raw:
        return raw.lstrip(codecs.BOM_UTF8).decode("latin-1")
    try:
        text = as_xml_says(raw)
    except UnicodeError:
        return None
    return None if "\0" in text else text


def _is_broker_xml(text: str, name: str) -> bool:
    start = re.match(_BEFORE_ROOT, text)
    root = re.compile(_ROOT).match(text, start.end() if start else 0)
    if root is None:
        return name in _NAMES or "urn:activemq" in text
    prefix, tag, attributes = root.groups()
    declared = re.search(_XMLNS.format(f":{re.escape(prefix)}" if prefix else ""), attributes)
    namespace = declared[1] if declared else ""
    if namespace.startswith(_SERVER_NAMESPACE):
        return f"{_SERVER_NAMESPACE}messaging" in text
    if any(f"{other}.xsd" in attributes or name == f"{other}.xml" for other in _OTHER_HORNETQ):
        return False
    if re.fullmatch(_BROKER_NAMESPACE, namespace):
        return True
    if tag == "configuration":
        foreign = namespace and not re.search("(?i)activemq|hornetq", attributes)
        has_core = re.search(r"<(?:[\w.-]+:)?core[\s>]", text) is not None
        return "urn:hornetq" in attributes or (has_core and not foreign)
    return not namespace and tag in _FRAGMENTS


def _holds_objects(text: str) -> bool:
    """Return whether a text has custom resources of brokers, or ConfigMaps and Secrets with a broker's files.

    A text that only mentions such objects, as an example inside another object does, has none.
    """
    of_broker = bool(re.search(_BROKER_OBJECT, text) and re.search(_BROKER_KIND, text))
    of_files = bool(re.search(_OBJECT_WITH_FILES, text)) and bool(
        re.search(_FILE_OF_BROKER, text) or _indented_keys().search(text)
    )
    if not of_broker and not of_files:
        return False
    kinds = _kinds_of_objects(text)
    return kinds is None or bool((of_broker and kinds & _BROKER_KINDS) or (of_files and kinds & _FILE_KINDS))


def _kinds_of_objects(text: str) -> set[str] | None:
    """Return the kinds of the objects in a file, including those in lists and templates; None if it is malformed."""
    from brokerconf.reading.parsing import ReadingError
    from brokerconf.reading.yaml_tree import read_yaml

    try:
        nodes = list(read_yaml(text.encode("latin-1", "replace"), "").roots)
    except ReadingError:
        return None
    kinds = set()
    for node in nodes:
        kinds.add(node.text_at("kind"))
        for holder in ("items", "objects"):
            inside = node.get(holder)
            nodes += inside.items if inside is not None else []
    return kinds


def _is_json_of_broker(text: str) -> bool:
    if not _json_keys().search(text):
        return False
    import json

    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return isinstance(document, dict) and any(key.partition(".")[0] in _keys() for key in document)


@cache
def _keys() -> frozenset[str]:
    """Return the first words of keys in ``broker.properties``, without those that other programs use, too."""
    from brokerconf.schema.beans import ROOT, bean_properties
    from brokerconf.settings.settings_model import Scope, in_scope

    root = (bean for bean in bean_properties() if bean.owner == ROOT)
    parts = {bean.name for bean in root if bean.made or bean.type.endswith(("List", "Map", "Set", "Configuration"))}
    return frozenset(parts | {setting.bean for setting in in_scope(Scope.BROKER).values() if setting.bean}) - _COMMON


def _any_key() -> str:
    return "(?:" + "|".join(sorted(_keys())) + ")"


@cache
def _property_keys() -> re.Pattern[str]:
    return re.compile(rf"(?m)^[ \t\f]*{_any_key()}(?:\.|[ \t\f]*[=:])")


@cache
def _indented_keys() -> re.Pattern[str]:
    return re.compile(rf"(?m)^[ \t]+(?:- )?{_any_key()}(?:\.\S+)?[ \t]*=")


@cache
def _json_keys() -> re.Pattern[str]:
    return re.compile(rf'"{_any_key()}(?:\.[^"\n]*)?"\s*:')


@cache
def _yaml_keys() -> re.Pattern[str]:
    return re.compile(rf"""(?m)^["']?{_any_key()}(?:\.[^:\n]*)?["']?[ \t]*:(?:\s|$)""")
