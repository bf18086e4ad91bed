"""What the site has beside the pages below ``docs/``: a hook of MkDocs, named in ``mkdocs.yml``.

The README is its front, other pages at the top of the checkout join it, options and JSON schemas get a page each, and
links to files of the checkout (examples, schemas) lead to copies of them. A link to what is not there is an error.
"""

from __future__ import annotations

import html
import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import rules_md
from command_table import TOP, Command, Option, groups
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pagectl.running.statuses import STATUSES

from pagefmt import library

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOP_PAGES = ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
AT_THE_TOP = {"README.md": "index.md", **{f"{name}.md": f"{name.lower()}.md" for name in TOP_PAGES}}
COPIED = ("examples", "schemas/json")
CODE = r"(?P<code>```.*?^```|`[^`\n]+`)"
LINK = r"\[(?P<text>[^\]\n]*)\]\((?!\w+:|#)(?P<target>[^)#\s]+)(?P<rest>#[^)]*)?\)"
LINKS = re.compile(f"{CODE}|{LINK}", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add files from outside ``docs/`` and the generated pages to the site."""
    for name, uri in AT_THE_TOP.items():
        files.append(File.generated(config, uri, content=(ROOT / name).read_text("utf-8")))
    for folder in COPIED:
        for path in sorted(path for path in (ROOT / folder).rglob("*") if path.is_file()):
            uri = str(path.relative_to(ROOT))
            if path.suffix not in (".md", ".gz") and "__pycache__" not in uri:
                files.append(File.generated(config, uri, abs_src_path=str(path)))
    files.append(File.generated(config, "rules.md", content=rules_md.page()))
    files.append(File.generated(config, "options.md", content="\n".join(_options())))
    files.append(File.generated(config, "json-schemas.md", content="\n".join(_schemas())))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as the site has them; they are written as they lead somewhere in the checkout."""
    of_site = {uri: name for name, uri in AT_THE_TOP.items()}
    uri = page.file.src_uri
    if uri == "python.md":
        markdown += "\n".join(_library())
    origin = ROOT / of_site[uri] if uri in of_site else DOCS / uri

    def link(found: re.Match[str]) -> str:
        if found["code"] is not None:
            return found[0]
        there = _uri(origin, found["target"])
        if files.get_file_from_path(there) is None:
            return found["text"]
        shown = os.path.relpath(there, Path(uri).parent)
        return f"[{found['text']}]({shown}{found['rest'] or ''})"

    return LINKS.sub(link, markdown)


def _uri(origin: Path, target: str) -> str:
    """Where on the site a link of a page leads."""
    there = (origin.parent / target).resolve()
    if not there.exists():
        raise PluginError(f"{origin.relative_to(ROOT)}: no {target} is there")
    name = str(there.relative_to(ROOT))
    return AT_THE_TOP.get(name, str(there.relative_to(DOCS)) if there.is_relative_to(DOCS) else name)


def _library() -> Iterator[str]:
    """Signatures and docstrings of the public names of ``pagefmt.library``, in their order."""
    for name, found in vars(library).items():
        if name[0] != "_" and getattr(found, "__module__", "") == library.__name__:
            yield f"\n### {name}\n"
            yield from _documented("", found)
            kinds = vars(found).get("__annotations__", {})
            fields = [f"{field}: {getattr(kind, '__forward_arg__', kind)}" for field, kind in kinds.items()]
            if fields:
                yield "```py\n" + "\n".join(fields) + "\n```\n"
            for member, inner in vars(found).items() if inspect.isclass(found) else ():
                if member[0] != "_" and isinstance(inner, property) and inner.__doc__:
                    yield f"**`{member}`**: {_prose(inner)}\n"
                elif member[0] != "_" and inspect.isfunction(inner):
                    yield from _documented(f".{member}", inner)


def _documented(member: str, found: object) -> Iterator[str]:
    if inspect.isfunction(found):
        signature = str(inspect.signature(found)).replace("'", "")
        yield f"```py\n{member or found.__name__}{signature}\n```\n"
    yield f"{_prose(found)}\n"


def _prose(found: object) -> str:
    return html.escape(inspect.getdoc(found) or "", quote=False).replace("``", "`")


def _options() -> Iterator[str]:
    yield from ("# Options and exit statuses", "", "What `--help` and the manual pages have. Of every command:", "")
    yield from _table(("option", "meaning"), ((_named(option), option.help) for option in TOP))
    for group in groups():
        yield f"## {group.name}\n\n{html.escape(group.line)}\n"
        for command in group.commands:
            yield f"### pagectl {' '.join(command.path)}\n"
            yield from _command(command)


def _command(command: Command) -> Iterator[str]:
    for text in command.text:
        yield f"{html.escape(text)}\n"
    if command.examples:
        yield f"```text\n{textwrap.dedent(command.examples).strip()}\n```\n"
    rows = [(f"`{argument.metavar}`", argument.help) for argument in command.arguments]
    rows += [(_named(option), _meaning(option)) for option in command.options]
    yield from _table(("argument, option", "meaning"), rows)
    yield from _table(("status", "when"), ((str(status), when) for status, when in STATUSES[command.path].items()))


def _named(option: Option) -> str:
    return f"`{', '.join(option.names)}{' ' + option.metavar if option.value else ''}`"


def _meaning(option: Option) -> str:
    return f"{option.help} Default: {option.default}." if option.default else option.help


def _table(head: tuple[str, str], rows: object) -> Iterator[str]:
    yield f"| {head[0]} | {head[1]} |\n|---|---|"
    for name, meaning in rows:  # type: ignore[attr-defined]
        yield f"| {name.replace('|', chr(92) + '|')} | {html.escape(meaning).replace('|', chr(92) + '|')} |"
    yield ""


def _schemas() -> Iterator[str]:
    yield "# JSON Schemas\n"
    yield "Every JSON output conforms to one of these, strictly: no key is there that it does not name."
    yield "They are installed below `share/pagectl/json-schemas`. `.line` is a line of JSON Lines.\n"
    rows = []
    for path in sorted((ROOT / "schemas" / "json").glob("*.json")):
        rows.append((f"[{path.name}](../schemas/json/{path.name})", json.loads(path.read_text("utf-8"))["title"]))
    yield from _table(("schema", "of"), rows)
