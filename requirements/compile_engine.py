"""Build hook: ``PAGECTL_COMPILE=1 pip install .`` compiles the engine of ``replay`` with mypyc, where a C compiler is.

The same sources: every compiled module lies beside its Python file, which is used where there is no compiled one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WINGS = ("model", "paging", "queues", "broker", "clients", "running")
MORE = ("replay/recording.py", "replay/records.py", "replay/series.py", "replay/page_holding.py")
NEEDS = ("mypy[mypyc]>=1.18", "setuptools", "msgspec")


class CompiledEngine(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, if the environment asks for them."""

    def dependencies(self) -> list[str]:
        """List the packages that pip must install for compilation; the list is empty if nothing is compiled."""
        return list(NEEDS) if self._asked() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name what was made. Raises CalledProcessError where the compiler fails."""
        if not self._asked():
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory()
        for made in compiled(root, Path(self._folder.name)):
            inside = str(made.relative_to(self._folder.name))
            build_data["force_include"][str(made)] = str(root / inside) if version == "editable" else inside
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _asked(self) -> bool:
        return self.target_name == "wheel" and os.environ.get("PAGECTL_COMPILE", "") not in ("", "0")


def modules(root: Path) -> list[str]:
    """List the source files to compile, relative to the checkout.

    Files with ``msgspec`` structs are left out, because compilation loses the options of a struct class.
    """
    found = [one for wing in WINGS for one in sorted((root / "pageengine" / wing).glob("*.py"))]
    found += [root / "pageengine" / one for one in MORE]
    left_out = [one for one in found if one.name == "__init__.py" or "msgspec import Struct" in one.read_text()]
    return [str(one.relative_to(root)) for one in found if one not in left_out]


def compiled(root: Path, folder: Path) -> list[Path]:
    """Compile a copy of the sources in ``folder``; the extension modules. Raises CalledProcessError."""
    for package in ("pageengine", "pagefmt", "schemas"):
        shutil.copytree(root / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    environment = os.environ | {"MYPYPATH": f"{folder}{os.pathsep}{folder / 'schemas'}"}
    environment.setdefault("MYPYC_OPT_LEVEL", "1")
    options = ["--ignore-missing-imports", "--follow-imports=silent"]
    subprocess.run([sys.executable, "-m", "mypyc", *options, *modules(root)], cwd=folder, env=environment, check=True)
    return sorted(one for one in folder.glob("**/*.so") if one.relative_to(folder).parts[0] != "build")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        there = Path(name)
        for made in compiled(Path.cwd(), there):
            shutil.copy2(made, made.relative_to(there))
