"""After a stock Spark has written, nothing wrong is marked as accurate: engines answer queries from what is marked."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.fixtures.databases.hive_schemas import adopted_database
from tests.fixtures.servers import finding_tests, serving

from hmstats.model.parameters.accurate import PARAMETER

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(params=["alone", "beside Hive 4.0"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of a server whose warehouse is in the test's folder."""
    with ExitStack() as stack:
        database = None
        if request.param != "alone":
            postgres = request.getfixturevalue("postgres_server")
            template = request.getfixturevalue("hive_templates")["4.0"]
            database = stack.enter_context(adopted_database(postgres, template))
        yield stack.enter_context(serving(tmp_path, database=database))


@pytest.mark.parametrize("user", ["spark", "ada"])
def test_what_is_marked_is_right(server: int, tmp_path: Path, user: str) -> None:
    script = Path(__file__).parent / "sessions" / "spark_appends.py"
    command = [sys.executable, str(script), f"thrift://127.0.0.1:{server}", f"file:{tmp_path}/warehouse"]
    env = finding_tests() | {"HADOOP_USER_NAME": user}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({each["sql"] for each in seen}) == 14
    marked = [each for each in seen if PARAMETER in each["parameters"]]
    assert [each for each in marked if each["parameters"].get("numRows") != str(each["rows"])] == []
