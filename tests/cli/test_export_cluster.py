"""``export`` through a Spark master and a worker that the test starts itself, from the wheel: ``make test-cluster``.

The executors are given no path to the project: what they need of it travels with the job.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase, cases
from program import EXPORT, started
from spark_cluster import spark_cluster
from table_rows import assert_same, texts

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
CASES = [GoldenCase("2.56.0", "multicast-acks"), GoldenCase("artemis-1.5.6", "torn")]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster.url


def export(case: GoldenCase, out: str, master: str, *words: str) -> int:
    running = started(*EXPORT, case.data(), "--to", out, "--master", master, "--body", "base64", *words)
    _, complained = running.communicate(timeout=400)
    assert running.returncode in (0, 1), complained
    return running.returncode


def rows(out: Path) -> list[Any]:
    assert (out / "_SUCCESS").exists()
    return pq.read_table(out).to_pylist()


ON_CLUSTER = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=512m")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_cluster_exports_what_this_machine_does(case: GoldenCase, master: str, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    status = export(case, f"file://{there}", master, *ON_CLUSTER)
    assert export(case, str(here), "local[1]") == status
    assert texts(rows(there)) == texts(rows(here))
    assert_same(rows(there), case)
    aside = [(out / "_damaged.json").read_text() if status else "" for out in (there, here)]
    assert aside[0] == aside[1]


@pytest.mark.parametrize("what", ["outstanding", "messages"])
def test_five_hundred_brokers(what: str, master: str, tmp_path: Path) -> None:
    every = cases()

    def table(name: str, chosen: list[tuple[str, GoldenCase]], *words: str) -> dict[str, list[str]]:
        listing, out = tmp_path / f"{name}.csv", tmp_path / name
        listing.write_text("name,path\n" + "".join(f"{title},{case.data()}\n" for title, case in chosen))
        running = started(*EXPORT, "--brokers", listing, "--what", what, "--to", f"file://{out}", *words)
        _, complained = running.communicate(timeout=800)
        assert running.returncode == 1, complained  # some cases are damaged
        found: dict[str, list[str]] = {title: [] for title, _ in chosen}
        for row in rows(out):
            del row["exported_at"]
            found[row.pop("broker")].append(repr(row))
        return {title: sorted(lines) for title, lines in found.items()}

    once = table("once", [(str(case), case) for case in every], "--master", "local[2]")
    fleet = [(f"{case} {n}", case) for n in range(500 // len(every) + 1) for case in every][:500]
    many = table("many", fleet, "--master", master, *ON_CLUSTER)
    assert len(many) == 500 and sum(map(len, once.values())) > len(every)
    assert many == {title: once[str(case)] for title, case in fleet}


def test_a_path_is_a_folder_that_every_machine_sees(master: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert export(CASES[0], str(out), master, *ON_CLUSTER, "--partition-by", "priority") == 0
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"priority=4"}
    assert_same([{**row, "priority": 4} for row in rows(out)], CASES[0])
    elsewhere = ("--master", master, *ON_CLUSTER, "--conf", "spark.hadoop.fs.defaultFS=hdfs://head:8020")
    running = started(*EXPORT, CASES[0].data(), "--to", tmp_path / "other", *elsewhere)
    _, complained = running.communicate(timeout=400)
    assert running.returncode == 2 and f"give --to hdfs://head:8020{tmp_path}/other, or file://" in complained
    assert complained.count("\n") == 1 and not (tmp_path / "other").exists()


def test_executors_run_the_package_that_travelled(master: str) -> None:
    from pagefmt.spark.session import running

    def where(_: int) -> str:
        import pagefmt

        return str(pagefmt.__file__)

    settings = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
    with running("where", master, settings, print) as context:
        (found,) = context.parallelize([0], 1).map(where).collect()
    assert found.endswith("pagefmt.zip/pagefmt/__init__.py")
