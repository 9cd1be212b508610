"""A stock Spark through a gateway: every statement answers as at the Hive Metastore behind it."""

from pathlib import Path

import pytest
from tests.engines.gateway.upstreams import GENERATIONS, in_front_of, upstream
from tests.engines.spark.test_spark import STATEMENTS, session

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_statement_answers_as_without_the_gateway(generation: str, postgres_server: str, tmp_path: Path) -> None:
    with upstream(generation, tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        expected = session(f"thrift://127.0.0.1:{direct}", tmp_path / "warehouse", "enginetest")
        found = session(f"thrift://127.0.0.1:{port}", tmp_path / "warehouse", "otherenginetest")
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    assert {sql: (expected[sql], each) for sql, each in found.items() if each != expected[sql]} == {}
