"""docs/collect/autogather.md: a module that Python runs first has an unchanged program's sessions followed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.servers import serving

import hmstats
from hmstats.model.statistics.answers import RowCount

PAGE = Path(__file__).parents[2] / "docs" / "collect" / "autogather.md"
_MODULE = re.compile(r"^```python\n(# \S+/sitecustomize\.py\n.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = """
import sys
from pyspark.sql import SparkSession

metastore, warehouse = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.hadoop.hive.metastore.uris", metastore)
    .config("spark.sql.warehouse.dir", warehouse)
    .config("spark.ui.enabled", "false")
    .enableHiveSupport()
    .getOrCreate()
)
spark.range(90).write.saveAsTable("numbers")
spark.newSession().range(10).write.insertInto("numbers")
"""

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_a_program_that_is_not_changed_is_followed(tmp_path: Path) -> None:
    (module,) = _MODULE.findall(PAGE.read_text("utf-8"))
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup" / "sitecustomize.py").write_text(module)
    (tmp_path / "job.py").write_text(PROGRAM)
    with serving(tmp_path) as port:
        address = f"thrift://127.0.0.1:{port}"
        done = subprocess.run(
            [sys.executable, str(tmp_path / "job.py"), address, f"file:{tmp_path}/warehouse"],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "startup")},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr[-3_000:]
        with hmstats.connect(address) as service:
            assert service.table("default.numbers").count() == RowCount(100, exact=True)
            assert service.table("default.numbers").distinct("id").count == pytest.approx(90, abs=3)
