"""``python docs/generators/new_command.py GROUP NAME LINE``: the files and lines that a new command begins with.

It carries out steps 1 to 4 of "A command" in CONTRIBUTING.md; what is left is what the command does.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = '''"""``{group} {name}``: {line}"""

from __future__ import annotations

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, TextOrJsonOption
from pagectl.reports.{module} import {report}
from pagectl.running.exits import Exit
from pagectl.terminal.streams import print_json, say

EXAMPLES = (("{line}", "{group} {name} /var/lib/broker"),)


def command(
    given: DirArgument = None, form: TextOrJsonOption = TextOrJson.text, broker: BrokerOptions = BrokerOptions()
) -> int:
    """{line}"""
    place = located(given, broker)
    report = {report}(dir=str(place.given))
    if form is TextOrJson.json:
        print_json(report)
    else:
        say(report.dir)
    return Exit.OK
'''
REPORT = '''"""The answer of ``{group} {name}``."""

from __future__ import annotations

from pagectl.reports.form import Report


class {report}(Report):
    """{line}"""

    dir: str


ANSWERS = {{"{group}-{name}": {report}}}
'''


def insert(file: str, before: str, text: str) -> None:
    """Put a text before the first place of another in a file."""
    path = ROOT / file
    content = path.read_text("utf-8")
    at = content.index(before)
    path.write_text(content[:at] + text + content[at:], "utf-8")


def begin(group: str, name: str, line: str) -> None:
    """Write the files and lines of a command of a group that exists."""
    module = f"{group}_{name.replace('-', '_')}"
    report = "".join(word.capitalize() for word in module.split("_")) + "Report"
    words = {"group": group, "name": name, "line": line, "module": module, "report": report}
    (ROOT / f"cli/pagectl/commands/{module}.py").write_text(COMMAND.format(**words), "utf-8")
    (ROOT / f"cli/pagectl/reports/{module}.py").write_text(REPORT.format(**words), "utf-8")
    app = (ROOT / "cli/pagectl/app.py").read_text("utf-8")
    first = app[app.index(f'    "{group}": (') :].split("        {\n", 1)[1].split("\n", 1)[0]
    insert("cli/pagectl/app.py", first, f'            "{name}": ("{module}", "{line}"),\n')
    insert("cli/pagectl/running/statuses.py", f'    ("{group}", ', f'    ("{group}", "{name}"): _ONLY_DONE,\n')
    calls = f'    ("{group} {name}", 0, "{{news}}"),\n    ("{group} {name}", 2, "{{folder}}/nowhere"),\n'
    insert("tests/support/every_call.py", f'    ("{group} ', calls)


if __name__ == "__main__":
    begin(*sys.argv[1:])
