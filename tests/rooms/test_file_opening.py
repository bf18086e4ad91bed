"""Files are opened in few places, each with the errors that an operator should see.

What a data directory contains is read through ``pagefmt.storage.files``: regular files only, through no link, with
``NotReadable`` and its subclasses. Files that an operator names are read by ``read_at_most``. Both kinds are written
through ``pagefmt.storage.writing``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from product_source import ROOT, modules, parsed

READING_AND_WRITING = {
    "pagefmt/storage/archives.py", "pagefmt/storage/remote_paths.py", "pagefmt/storage/files.py",
    "pagefmt/storage/remote_outputs.py", "pagefmt/storage/writing.py", "schemas/brokerconf/reading/decoding.py",
}  # fmt: skip
# Other modules that open files, and what for.
OTHERS = {
    "cli/pagectl/commands/completion.py": "a script of the package",
    "cli/pagectl/files/destination.py": "the new file of atomic_file, as text",
    "cli/pagectl/files/table_output.py": "the new file of atomic_file, for Arrow",
    "cli/pagectl/opening/names.py": "the null device",
    "cli/pagectl/opening/recovery.py": "the new file of atomic_file, as text",
    "cli/pagectl/running/deadline.py": "the null device and a pipe",
    "cli/pagectl/sending/checkpoint.py": "a file that is locked, read and appended to",
    "cli/pagectl/terminal/standard_streams.py": "standard input and the null device",
    "pageengine/trace/streams.py": "streams of any length, packed ones too",
    "pagefmt/parallel.py": "pipes, shared memory, facts of the kernel",
    "pagefmt/storage/stores/azure.py": "the profile of the Azure command line",
    "pagefmt/storage/stores/hadoop.py": "a file of this process that is sent",
    "pagefmt/storage/stores/s3.py": "the profiles of Amazon's command line",
    "pagefmt/storage/interruptible_calls.py": "facts of the kernel",
    "pagefmt/table/partitions.py": "a file of a new folder",
    "pagefmt/directory/locks.py": "files that brokers lock, of which nothing is read",
    "pagefmt/change/salvage/store.py": "memory",
    "pagefmt/spark/exported.py": "a table, which may be an object store's",
    "pagefmt/spark/iceberg.py": "a table, which may be an object store's",
    "pagefmt/spark/java_home.py": "a script in the user's cache",
    "pagefmt/spark/table_folder.py": "a table, which may be an object store's",
    "pagefmt/spark/table_formats.py": "a table, which may be an object store's",
    "schemas/brokerconf/reading/tables.py": "a table of the package",
    "schemas/brokerconf/schema/xsd_files.py": "a schema of the package",
}
OF_PATHS = frozenset(("read_bytes", "read_text", "write_bytes", "write_text"))
OF_MODULES = frozenset(("io.open", "mmap.mmap", "os.fdopen", "os.open"))


def opening_calls(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of calls that open a file: a method ``open`` if it names a mode, a buffer or an encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        keywords = {keyword.arg for keyword in node.keywords} & {"mode", "buffering", "encoding"}
        has_mode = bool(node.args) and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
        is_method = isinstance(node.func, ast.Attribute)
        if (
            name == "open"
            or name in OF_MODULES
            or (is_method and name.rpartition(".")[2] in OF_PATHS)
            or (is_method and name.endswith(".open") and (keywords or has_mode))
        ):
            yield node.lineno


def test_files_are_opened_in_few_modules() -> None:
    places = {path.relative_to(ROOT).as_posix(): list(opening_calls(parsed(path))) for path in modules().values()}
    opening = {name for name, lines in places.items() if lines}
    assert opening - READING_AND_WRITING == set(OTHERS), {name: places[name] for name in opening - set(OTHERS)}


def test_calls_of_every_form_are_seen() -> None:
    forms = (
        "open(path)",
        "path.open('rb')",
        "path.open(encoding='utf-8')",
        "path.read_text()",
        "path.write_bytes(content)",
        "os.open(path, flags)",
        "os.fdopen(handle)",
        "mmap.mmap(handle, 0)",
    )
    assert [len(list(opening_calls(ast.parse(form)))) for form in forms] == [1] * len(forms)
    others = ("session.open()", "zipped.open(info)", "read_bytes(raw, name)", "opener.open(request, timeout=5)")
    assert not any(list(opening_calls(ast.parse(form))) for form in others)
