"""docs/engines/spark.md shows what happens: each of its blocks is run in a stock Spark, whose joins get better."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.servers import finding_tests, serving

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "spark.md"
TABLES = "region,nation,customer,orders,lineitem"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the blocks of the page gave."""
    folder = tmp_path_factory.mktemp("spark-page")
    program = str(Path(sys.executable).with_name("tpchgen-cli"))
    data = ("--scale-factor", "0.01", "--tables", TABLES, "--output-dir", str(folder / "tpch"))
    subprocess.run([program, "parquet", *data], check=True, capture_output=True)
    with serving(folder) as port:
        places = (f"thrift://127.0.0.1:{port}", str(folder / "warehouse"), str(folder / "tpch"), str(PAGE))
        command = [sys.executable, "-m", "tests.docs.spark_page_session", *places]
        done = subprocess.run(
            command, cwd=folder, env=finding_tests(), capture_output=True, text=True, timeout=580, check=False
        )
    assert done.returncode == 0, done.stderr[-3000:]
    answered: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answered


def test_every_block_does_what_the_page_says(found: dict[str, Any]) -> None:
    assert len(found["blocks"]) == 8
    assert [block for block in found["blocks"] if block[1] != block[2]] == []


def test_the_new_order_of_joins_passes_on_less(found: dict[str, Any]) -> None:
    before, after = found["rows"]
    assert after * 10 < before
    assert f"pass on {after:,} rows instead of {before:,}" in PAGE.read_text()
