"""Files that are no configuration of an Artemis broker, or not yet one: each is called what it is, once."""

from __future__ import annotations

import pytest
from brokerconf.instance.recognition import ConfigurationForm, form_of, other_file, recognised
from brokerconf.instance.templates import template_mark
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext

from pagefmt.findings import Finding, Severity

CORE = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core></configuration>'


def linted(text: str, name: str) -> list[Finding]:
    return list(lint(text.encode(), name, LintContext()).findings)


CLASSIC = [
    '<beans xmlns="http://www.springframework.org/schema/beans"><broker '
    'xmlns="http://activemq.apache.org/schema/core" brokerName="${name}"/></beans>',
    '<broker xmlns="http://activemq.apache.org/schema/core"/>',
    '<?xml version="1.0"?>\n<!-- a -->\n<b:beans xmlns:b="http://www.springframework.org/schema/beans"\n'
    '  xmlns:amq="http://activemq.apache.org/schema/core"><amq:broker/></b:beans>',
    '<blueprint xmlns="http://www.osgi.org/xmlns/blueprint/v1.0.0"/>',
    '<!DOCTYPE beans><beans xmlns="http://www.springframework.org/schema/beans"/>',
]


@pytest.mark.parametrize("text", CLASSIC)
@pytest.mark.parametrize("name", ["activemq.xml", "broker.xml"])
def test_a_configuration_of_classic_is_one_finding(text: str, name: str) -> None:
    (one,) = linted(text, name)
    assert one.rule == "unknown-root" and one.severity is Severity.ERROR
    assert one.message.startswith("a configuration of ActiveMQ Classic")
    assert text.splitlines()[one.place.line - 1][one.place.column - 1] == "<"


def test_another_document_element_is_no_classic_one() -> None:
    assert not any("Classic" in one.message for one in linted("<x/>", "broker.xml") + linted(CORE, "broker.xml"))


COMPOSE = "services:\n  broker:\n    image: apache/activemq-artemis:2.40.0\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (COMPOSE, "a Docker Compose file"),
        ("version: '3'\n" + COMPOSE, "a Docker Compose file"),
        ("- hosts: all\n  tasks: []\n", "an Ansible playbook"),
        ("- name: brokers\n  hosts: all\n", "an Ansible playbook"),
        ("spring:\n  artemis:\n    mode: native\n", "a configuration of Spring Boot"),
        ("on: push\njobs:\n  lint: {}\n", "a GitHub workflow"),
    ],
)
def test_yaml_of_other_programs_is_called_what_it_is(text: str, what: str) -> None:
    assert what in other_file("x.yaml", text.encode()) and recognised("x.yaml", text.encode()) is None


@pytest.mark.parametrize("text", ["maxDiskUsage: 20\n", "maxDiskUsage: 20\nservices:\n  a:\n    image: b\n", "a: 1\n"])
def test_yaml_of_a_broker_is_no_other(text: str) -> None:
    assert other_file("x.yaml", text.encode()) == ""


BUNDLE = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    alm-examples: |-
      [{"apiVersion": "broker.amq.io/v1beta1", "kind": "ActiveMQArtemis", "spec": {}},
       {"apiVersion": "v1", "kind": "ConfigMap", "data": {"broker.xml": "<configuration/>"}}]
"""
RESOURCE = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nspec: {}\n"
MAP = "apiVersion: v1\nkind: ConfigMap\ndata:\n  broker.xml: <configuration/>\n"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (BUNDLE, False),
        (f"apiVersion: v1\nkind: Ingress\nspec:\n  note: |\n{_indented(RESOURCE)}", False),
        (f"apiVersion: v1\nkind: Ingress\nspec:\n  note: |\n{_indented(MAP)}", False),
        (f"{BUNDLE}---\n{RESOURCE}", True),
        (RESOURCE, True),
        (MAP, True),
        (f"kind: List\napiVersion: v1\nitems:\n  -\n{_indented(RESOURCE)}", True),
        (f"kind: Template\napiVersion: v1\nobjects:\n  -\n{_indented(MAP)}", True),
        (f"{RESOURCE}  x: [", True),
    ],
)
def test_objects_are_taken_and_examples_of_them_are_not(text: str, taken: bool) -> None:
    assert recognised("a.yaml", text.encode()) is (ConfigurationForm.KUBERNETES if taken else None)


def test_a_value_of_a_template_is_quoted_as_it_is_written() -> None:
    inside = "<journal-type>{{ journal }}</journal-type><max-disk-usage>{{limit}}</max-disk-usage>"
    found = linted(CORE.format(inside), "broker.xml.j2")
    said = [one.message for one in found if one.severity is Severity.ERROR]
    assert len(said) == 2 and "'{{ journal }}'" in said[0] and "'{{limit}}'" in said[1]
    assert [one.severity for one in found if one.rule == "template"] == [Severity.INFO]


@pytest.mark.parametrize(
    "text",
    [
        CORE.format("{{#each limits}}<max-disk-usage>{{.}}</max-disk-usage>{{/each}}"),
        CORE.format("{{<limits}}{{/limits}}"),
        CORE.format("{% if x %}<max-disk-usage>90</max-disk-usage>{% endif %}"),
        "{% raw %}" + CORE.format(""),
        CORE.format("<% if x %><max-disk-usage>90</max-disk-usage><% end %>"),
        CORE.format("<#if x><max-disk-usage>90</max-disk-usage></#if>"),
    ],
)
def test_a_template_that_is_no_xml_is_to_be_rendered_first(text: str) -> None:
    found = linted(text, "broker.xml")
    assert [one.rule for one in found if one.severity is Severity.INFO and one.rule == "template"] == ["template"]
    broken = [one for one in found if one.rule == "not-well-formed"]
    assert all("render the template first" in one.help for one in broken)


@pytest.mark.parametrize(
    ("text", "form", "is_template"),
    [
        ("<!-- {{ x }} -->" + CORE, ConfigurationForm.XML, False),
        (CORE.replace("{}", "<name>${x}</name>"), ConfigurationForm.XML, False),
        ("# {{ x }}\na=1\n", ConfigurationForm.PROPERTIES, False),
        ("a={{ x }}\n", ConfigurationForm.PROPERTIES, True),
        ('{"a": {"b": {}}}', ConfigurationForm.JSON, False),
        ("size: {{ .Values.size }}\n", ConfigurationForm.KUBERNETES, True),
        ('image: "{{ .Values.image }}:x"\n', ConfigurationForm.KUBERNETES, True),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", ConfigurationForm.KUBERNETES, True),
        ('summary: "{{ $labels.instance }} is down"\n', ConfigurationForm.KUBERNETES, False),
        ("a: {b: {c: 1}}\n", ConfigurationForm.KUBERNETES, False),
    ],
)
def test_marks_of_templates(text: str, form: ConfigurationForm, is_template: bool) -> None:
    assert (template_mark(text, form) is not None) is is_template


def test_a_template_has_the_form_of_what_it_becomes() -> None:
    assert form_of("broker.properties.j2", b"maxDiskUsage={{ x }}\n") is ConfigurationForm.PROPERTIES
    assert form_of("broker.xml.erb", b"<% if x %><configuration/>") is ConfigurationForm.XML
