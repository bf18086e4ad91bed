"""The protocol's side of the language server, on pygls: which requests there are, and when documents are checked."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

from brokerconf.editor.text import EditedText
from brokerconf.instance.recognition import ConfigurationForm
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method
from pygls.uris import to_fs_path

from pagectl import __version__
from pagectl.opening.linting import LintRequest
from pagectl.running.exits import CallError, debugging, report
from pagectl.serving.documents import Documents, Json, OpenDocument

# After the last key: typing is not checked letter by letter.
PAUSE = 0.15
# After the last message: what is not to delay an answer.
IDLE = 2.0
MAX_HEADER = 4096  # bytes of a header line
MAX_MESSAGE = 64 << 20  # bytes of a message: a document of the largest size that is read, escaped


class EditorProtocol(LanguageServerProtocol):
    """pygls's protocol with documents of our own: its own split lines where the protocol has none, and take longer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.exit_status: int | None = None
        self.stopped = Event()
        self._initialized = False

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with UTF-16 as the position encoding, which every editor supports."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        self._initialized = True
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]
        """End the session, with status 0 if it was shut down before."""
        self.exit_status = 0 if self._shutdown else 1
        self.stopped.set()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Pass on that a document was opened."""
        self.server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Pass on that a document was edited."""
        self.server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Pass on that a document was closed, which removes its diagnostics."""
        self.server.closed(params.text_document.uri)

    @property
    def server(self) -> EditorServer:
        """Return the server of this protocol."""
        assert isinstance(self._server, EditorServer)
        return self._server

    def handle_message(self, message: Any) -> None:
        """Handle a message. Refuse requests before ``initialize`` and after ``shutdown`` as the protocol demands."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and number is not None and method != types.INITIALIZE and not self._initialized:
            self._refuse(number, JsonRpcServerNotInitialized("initialize comes first"))
        elif method is not None and number is not None and self._shutdown:
            self._refuse(number, JsonRpcInvalidRequest("the session is shut down"))
        elif method == types.EXIT or self._initialized or method == types.INITIALIZE:
            super().handle_message(message)
            self.server.rest_soon()

    def structure_message(self, data: Json) -> Any:
        """Parse a message, and answer requests whose parameters are invalid."""
        try:
            return super().structure_message(data)
        except JsonRpcException as err:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._refuse(data["id"], err)
            raise

    def _refuse(self, number: int | str, error: JsonRpcException) -> None:
        self._send_data(
            {"jsonrpc": self.VERSION, "id": number, "error": {"code": error.code, "message": str(error.message)}}
        )

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        """Send a response.

        Plain values bypass the library's conversion, which would visit thousands of objects for nothing.
        """
        if error is None and isinstance(result, dict | list | None):
            self._result_types.pop(msg_id, None)
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result})
        else:
            super()._send_response(msg_id, result, error)

    def tell(self, method: str, params: Json) -> None:
        """Send a notification of plain values."""
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})


class EditorServer(LanguageServer):
    """The server of one session."""

    protocol: EditorProtocol

    def __init__(self, request: LintRequest) -> None:
        super().__init__("pagectl", __version__, protocol_cls=EditorProtocol)
        self.documents = Documents(request)
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._resting: asyncio.TimerHandle | None = None
        self._register()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error in one line; the editor shows nothing."""
        _log("the message cannot be handled", error)

    # documents

    def opened(self, item: types.TextDocumentItem) -> None:
        """Record an opened document, and check it."""
        path = to_fs_path(item.uri) if item.uri.startswith("file:") else None
        name = str(Path(path)) if path else item.uri
        self.documents.open[item.uri] = OpenDocument(
            item.uri, Path(path) if path else None, name, EditedText(item.text), item.version
        )
        self.check(item.uri)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply edits, and check the document once there are no more for a moment."""
        document = self.documents.open.get(params.text_document.uri)
        if document is not None:
            document.change(params.content_changes, params.text_document.version)
            if document.form is ConfigurationForm.PROPERTIES:
                self.documents.forget_surroundings()
            self._check_soon(document.uri)

    def closed(self, uri: str) -> None:
        """Forget a document, and remove its diagnostics."""
        self._stop_waiting(uri)
        if self.documents.open.pop(uri, None) is not None:
            self.protocol.tell(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, {"uri": uri, "diagnostics": []})

    def _check_soon(self, uri: str) -> None:
        self._stop_waiting(uri)
        self._waiting[uri] = asyncio.get_running_loop().call_later(PAUSE, self.check, uri)

    def _stop_waiting(self, uri: str) -> None:
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    def check(self, uri: str) -> None:
        """Check a document, and send its diagnostics."""
        self._stop_waiting(uri)
        document = self.documents.open.get(uri)
        if document is None:
            return
        try:
            diagnostics = self.documents.diagnostics(document)
        except Exception as err:
            _log("the document cannot be checked", err)
            return
        version = {} if document.version is None else {"version": document.version}
        self.protocol.tell(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, {"uri": uri, "diagnostics": diagnostics, **version})

    def rest_soon(self) -> None:
        """Collect garbage after ``IDLE`` seconds without a message, because it takes as long as a check."""
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.get_running_loop().call_later(IDLE, gc.collect)

    def check_all(self) -> None:
        """Check all documents again, because a file or setting that they depend on has changed."""
        self.documents.forget_surroundings()
        for uri in list(self.documents.open):
            self.check(uri)

    # requests

    def _register(self) -> None:
        """Register the handlers of requests; a saved document or changed file or setting checks all documents again."""
        register = self.protocol.fm.feature
        triggers = types.CompletionOptions(trigger_characters=["<", "/", " ", '"', "'", ">", "."])
        kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        documents = self.documents
        register(types.TEXT_DOCUMENT_COMPLETION, triggers)(
            self._at_position(self._completion, {"isIncomplete": False, "items": []})
        )
        register(types.TEXT_DOCUMENT_HOVER)(self._at_position(documents.hover, None))
        register(types.TEXT_DOCUMENT_DEFINITION)(self._at_position(documents.definition, []))
        register(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(self._about(self._fixes, []))
        register(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(self._about(lambda document, _: documents.symbols(document), []))
        for changed in (
            types.TEXT_DOCUMENT_DID_SAVE,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        ):
            register(changed)(lambda _: self.check_all())

    def _about(self, ask: Callable[[OpenDocument, Any], Any], nothing: Any) -> Callable[[Any], Any]:
        """Return the handler of a request about a document, which answers ``nothing`` after an error."""

        def handler(params: Any) -> Any:
            document = self.documents.open.get(params.text_document.uri)
            try:
                return nothing if document is None else ask(document, params)
            except Exception as err:
                _log("the request cannot be answered", err)
                return nothing

        return handler

    def _at_position(self, ask: Callable[[OpenDocument, int], Any], nothing: Any) -> Callable[[Any], Any]:
        """Return the handler of a request about a position in a document, which answers ``nothing`` after an error."""

        def at(document: OpenDocument, params: Any) -> Any:
            return ask(document, document.text.offset(params.position.line, params.position.character))

        return self._about(at, nothing)

    def _completion(self, document: OpenDocument, offset: int) -> Json:
        capabilities = self.client_capabilities.text_document
        item = capabilities.completion.completion_item if capabilities and capabilities.completion else None
        return self.documents.completion(document, offset, snippets=bool(item and item.snippet_support))

    def _fixes(self, document: OpenDocument, params: types.CodeActionParams) -> list[Json]:
        first, last = params.range.start, params.range.end
        offset = document.text.offset
        return self.documents.fixes(document, offset(first.line, first.character), offset(last.line, last.character))


def _log(message: str, error: BaseException) -> None:
    """Log a message in one line, without text of the document; with ``--debug`` also the traceback."""
    report(f"{message}: {type(error).__name__}")
    if debugging():
        logging.getLogger("pagectl").error(message, exc_info=error)


class _OneLine(logging.Formatter):
    """The library's own messages, without the texts that they quote."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[0] if record.exc_info else None
        return f"pagectl: {str(record.msg).splitlines()[0][:120]}" + (f": {error.__name__}" if error else "")


class _LimitedReader(StdinAsyncReader):
    """Reads what an editor sends, up to limits for a header and for a message."""

    def readline(self) -> Awaitable[bytes]:
        line: Awaitable[bytes] = self.loop.run_in_executor(self.executor, self._line)
        return line

    def _line(self) -> bytes:
        line: bytes = self.stdin.readline(MAX_HEADER + 1)
        if len(line) > MAX_HEADER:
            raise CallError(f"standard input: a header line of more than {MAX_HEADER} bytes; the session ends")
        return line

    def readexactly(self, n: int) -> Awaitable[bytes]:
        if n > MAX_MESSAGE:
            raise CallError(f"standard input: a message of more than {MAX_MESSAGE} bytes; the session ends")
        return super().readexactly(n)


def serve(request: LintRequest, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve one session, and return its exit status: 1 if the editor disconnected without ``exit``."""
    if not debugging():
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine())
        logging.basicConfig(handlers=[handler], level=logging.ERROR, force=True)
    gc.disable()
    server = EditorServer(request)
    protocol = server.protocol
    protocol.set_writer(StdoutWriter(stdout))
    reader = _LimitedReader(stdin, ThreadPoolExecutor(1))
    asyncio.run(
        run_async(
            stop_event=protocol.stopped, reader=reader, protocol=protocol, error_handler=server.report_server_error
        )
    )
    return 1 if protocol.exit_status is None else protocol.exit_status
