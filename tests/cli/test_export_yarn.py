"""``export --master yarn`` on a cluster of one node that the test starts: ``make test-stores``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase
from program import EXPORT, started
from stand_ins import hadoop
from table_rows import assert_same

pyspark = pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

pytestmark = [pytest.mark.stores, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a Hadoop cluster and yield its folder for ``HADOOP_CONF_DIR``."""
    folder = tmp_path_factory.mktemp("hadoop")
    with hadoop(folder):
        yield folder / "conf"


def test_yarn_exports_what_this_machine_does(configuration: Path, tmp_path: Path) -> None:
    # Containers have only those files of the project that are sent with the job.
    case, out = GoldenCase("2.56.0", "multicast-acks"), tmp_path / "out"
    jars = Path(pyspark.__file__).parent / "jars"
    settings = (
        f"spark.yarn.jars=local:{jars}/*",
        "spark.executor.instances=1",
        "spark.executor.memory=512m",
        "spark.yarn.am.memory=512m",
        "spark.driver.host=127.0.0.1",
    )
    running = started(
        *EXPORT,
        case.data(),
        "--to",
        f"file://{out}",
        "--master",
        "yarn",
        "--body",
        "base64",
        *(word for each in settings for word in ("--conf", each)),
        env={"HADOOP_CONF_DIR": str(configuration)},
    )
    _, complained = running.communicate(timeout=1000)
    assert running.returncode == 0, complained
    assert_same(pq.read_table(out).to_pylist(), case)
