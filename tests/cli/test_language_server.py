"""``config serve``, driven by a client library over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

BROKER = """<configuration xmlns="urn:activemq">
<core xmlns="urn:activemq:core">
<address-settings>
<address-setting match="orders.#"><max-size-byts>1M</max-size-byts>
<address-full-policy>PAEG</address-full-policy></address-setting>
</address-settings>
<addresses><address name="orders.new"><anycast><queue name="q"/></anycast></address></addresses>
</core>
</configuration>
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-m", "pagectl", "config", "serve"]))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    snippets = types.ClientCompletionItemOptions(snippet_support=True)
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(
                text_document=types.TextDocumentClientCapabilities(
                    completion=types.CompletionClientCapabilities(completion_item=snippets)
                )
            )
        )
    )
    yield
    await lsp_client.shutdown_session()


def open_document(client: LanguageClient, uri: str, text: str) -> None:
    item = types.TextDocumentItem(uri, "xml", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))


async def findings(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


def place(text: str, mark: str) -> types.Position:
    """Return the position after ``mark``, counted in UTF-16 units."""
    before = text[: text.index(mark) + len(mark)]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


@pytest.mark.asyncio
async def test_findings_come_when_a_document_is_opened_and_changed(client: LanguageClient, tmp_path: Path) -> None:
    uri = (tmp_path / "broker.xml").as_uri()
    open_document(client, uri, BROKER)
    found = {one.code: one for one in await findings(client, uri)}
    assert "did you mean <max-size-bytes>" in found["unknown-element"].message
    assert found["unknown-element"].range.start == types.Position(3, 34)


async def completions(client: LanguageClient, uri: str, at: types.Position) -> dict[str, types.CompletionItem]:
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), at)
    found = await client.text_document_completion_async(params)
    assert isinstance(found, types.CompletionList)
    return {item.label: item for item in found.items}


def edit(client: LanguageClient, uri: str, version: int, start: types.Position, end: types.Position, text: str) -> None:
    change = types.TextDocumentContentChangePartial(types.Range(start, end), text)
    identifier = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))


@pytest.mark.asyncio
async def test_a_session_of_typing(client: LanguageClient) -> None:
    uri = "untitled:Untitled-1"
    sound = BROKER.replace("byts", "bytes").replace("PAEG", "PAGE")
    open_document(client, uri, sound)
    assert {one.severity for one in await findings(client, uri)} <= {types.DiagnosticSeverity.Information, 2}
    at = place(sound, "<max-size-bytes>1M</max-size-bytes>")
    edit(client, uri, 2, at, at, "\U0001f600 <page-full")
    found = {str(one.code): one for one in await findings(client, uri)}
    assert "not-well-formed" in found and "stray-text" in found
    at = types.Position(at.line, at.character + len("XX <page-full"))
    offered = await completions(client, uri, at)
    item = offered["page-full-policy"]
    assert isinstance(item.text_edit, types.TextEdit) and item.text_edit.new_text.startswith("page-full-policy>$0</")
    assert item.text_edit.range.end == at and "needs" not in str(item.detail)
    assert "max-size-bytes" not in offered and "address-full-policy" not in offered
    edit(client, uri, 3, types.Position(at.line, at.character - len("XX <page-full")), at, "")
    assert not {one.severity for one in await findings(client, uri)} & {types.DiagnosticSeverity.Error}


@pytest.mark.asyncio
async def test_hover_fixes_definition_and_outline(client: LanguageClient, tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(BROKER)
    properties = tmp_path / "broker.properties"
    properties.write_text('# ours\naddressSettings."orders.#".addressFullMessagePolicy=BLOCK\n')
    uri = path.as_uri()
    open_document(client, uri, BROKER)
    await findings(client, uri)
    document = types.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(types.HoverParams(document, place(BROKER, "<address-full")))
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert "what happens to new messages once the address" in hover.contents.value
    hover = await client.text_document_hover_async(types.HoverParams(document, place(BROKER, "<max-size-b")))
    assert hover is not None and "does not start" in hover.contents.value  # type: ignore[union-attr]

    spelt = place(BROKER, "<max-size-b")
    asked = types.CodeActionParams(document, types.Range(spelt, spelt), types.CodeActionContext([]))
    actions = await client.text_document_code_action_async(asked)
    assert actions is not None
    meant = next(one for one in actions if one.title == "Replace with max-size-bytes")
    assert isinstance(meant, types.CodeAction) and meant.edit is not None and meant.edit.changes is not None
    assert [one.new_text for one in meant.edit.changes[uri]] == ["max-size-bytes"] * 2
    assert any(one.title == "Ignore unknown-element here" for one in actions)

    decided = await client.text_document_definition_async(types.DefinitionParams(document, place(BROKER, '="orders.n')))
    assert isinstance(decided, list)
    assert [one.range.start.line for one in decided] == [3]  # type: ignore[union-attr]
    by = types.DefinitionParams(document, place(BROKER, "<address-full"))
    decided = await client.text_document_definition_async(by)
    assert isinstance(decided, list)
    assert [(one.uri, one.range.start.line) for one in decided] == [(properties.as_uri(), 1)]  # type: ignore[union-attr]

    text = properties.read_text()
    open_document(client, properties.as_uri(), text)
    await findings(client, properties.as_uri())
    beside = types.DefinitionParams(types.TextDocumentIdentifier(properties.as_uri()), place(text, "addressFull"))
    under = await client.text_document_definition_async(beside)
    assert isinstance(under, list)
    line = place(BROKER, "<address-full").line
    assert [(one.uri, one.range.start.line) for one in under] == [(uri, line)]  # type: ignore[union-attr]

    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert symbols is not None and [one.name for one in symbols][:2] == ["orders.#", "orders.new"]


@pytest.mark.asyncio
async def test_properties_beside_the_configuration_are_checked_as_they_stand(
    client: LanguageClient, tmp_path: Path
) -> None:
    (tmp_path / "broker.xml").write_text(BROKER.replace("byts", "bytes").replace("PAEG", "PAGE"))
    path = tmp_path / "broker.properties"
    path.write_text("")
    text = "addressSettings.orders.#.maxSizeBytes=1\n"
    open_document(client, path.as_uri(), text)
    codes = [one.code for one in await findings(client, path.as_uri())]
    assert "properties-unquoted-dots" in codes
    edit(client, path.as_uri(), 2, types.Position(0, 0), types.Position(1, 0), "")
    assert await findings(client, path.as_uri()) == []


@pytest.mark.asyncio
async def test_unknown_documents_are_no_matter(client: LanguageClient, tmp_path: Path) -> None:
    uri = "file:///nowhere/else.xml"
    assert await completions(client, uri, types.Position(3, 3)) == {}
    edit(client, uri, 2, types.Position(0, 0), types.Position(9, 9), "x")
    for other in (uri, "vscode-notebook:/x%ZZ", "file:///%00", "not a uri", (tmp_path / "pom.xml").as_uri()):
        open_document(client, other, "<project>\r\n\t<x/>\r</project>\x00\ud800")
        assert await findings(client, other) == []
        assert await completions(client, other, types.Position(99, 99)) == {}


class RawSession:
    """The server without a client library: what goes in and comes out, byte by byte."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pagectl", "config", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, message: object) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def request(self, number: int, method: str, **params: object) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """Wait for the server's end, and return its status, the messages it sent and its log."""
        out, err = self.process.communicate(timeout=60)
        found = []
        while out:
            head, _, out = out.partition(b"\r\n\r\n")
            length = int(head.split(b"\r\n")[0].removeprefix(b"Content-Length: "))
            found.append(json.loads(out[:length]))
            out = out[length:]
        return self.process.returncode, found, err.decode()


def test_the_order_of_a_session_and_its_statuses() -> None:
    session = RawSession()
    session.request(1, "textDocument/hover", textDocument={"uri": "x"}, position={"line": 0, "character": 0})
    session.request(2, "initialize", capabilities={}, processId=None, rootUri=None)
    session.request(3, "shutdown")
    session.request(4, "textDocument/hover", textDocument={"uri": "x"}, position={"line": 0, "character": 0})
    session.send({"jsonrpc": "2.0", "method": "exit"})
    status, found, err = session.end()
    assert status == 0 and err == ""
    assert [one.get("error", {}).get("code") for one in found] == [-32002, None, None, -32600]
    assert found[1]["result"]["capabilities"]["positionEncoding"] == "utf-16"
    assert found[2] == {"jsonrpc": "2.0", "id": 3, "result": None}

    session = RawSession()
    session.send({"jsonrpc": "2.0", "method": "exit"})
    assert session.end()[0] == 1
    assert RawSession().end()[0] == 1


def test_messages_that_make_no_sense_are_answered_and_the_session_goes_on() -> None:
    session = RawSession()
    session.request(1, "initialize", capabilities={}, processId=None, rootUri=None)
    session.send(b"{not json")
    session.send(b"\xff\xfe")
    session.send([1, 2])
    session.request(2, "textDocument/hover", textDocument=17)
    session.request(3, "no/such/method")
    session.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": 1}}})
    session.send({"jsonrpc": "2.0", "id": 77, "result": None})
    session.request(4, "shutdown")
    session.send({"jsonrpc": "2.0", "method": "exit"})
    status, found, err = session.end()
    assert status == 0
    assert {one["id"]: one.get("error", {}).get("code") for one in found if one.get("id")} == {
        1: None,
        2: -32602,
        3: -32601,
        4: None,
    }
    assert "Traceback" not in err and all(line.startswith("pagectl: ") for line in err.splitlines())


@pytest.mark.parametrize(
    "header",
    [f"Content-Length: {'9' * digits}" for digits in (11, 20, 6000)] + ["x" * 6000],
    ids=["11 digits", "20 digits", "6000 digits", "no length"],
)
def test_a_message_or_header_without_measure_ends_the_session_in_one_line(header: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pagectl", "config", "serve"],
        input=f"{header}\r\n\r\n{{}}".encode(),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"the session ends" in done.stderr, done.stderr


def test_secrets_stay_out_of_the_log_and_out_of_findings() -> None:
    session = RawSession()
    session.request(1, "initialize", capabilities={}, processId=None, rootUri=None)
    text = BROKER.replace(
        "<address-settings>", "<cluster-password a='hidden-word'>hidden-word<x/></cluster-password><", 1
    )
    item = {"uri": "untitled:broker.xml", "languageId": "xml", "version": 1, "text": text}
    session.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
    session.request(2, "shutdown")
    session.send({"jsonrpc": "2.0", "method": "exit"})
    status, found, err = session.end()
    assert status == 0 and "hidden-word" not in err + json.dumps(found)
    assert any(one.get("method") == "textDocument/publishDiagnostics" for one in found)


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('No module named pygls', name='pygls')")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "pagectl", "config", "serve"],
        input="",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pagectl: config serve needs pygls; install it with: pip install 'pygls<3,>=2.0'\n"
