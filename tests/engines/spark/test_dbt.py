"""What dbt-spark asks a Spark for its catalog and its models, on a real Hive Metastore and on ours: the same answers.

dbt_session.sql has the statements of dbt-spark 1.11's macros: SHOW TABLE EXTENDED and DESCRIBE EXTENDED for its cache
and its catalog, models as tables, views and increments, renames to backups.
"""

from pathlib import Path

import pytest
from tests.engines.spark.test_spark import ours, session
from tests.fixtures.hive import hive

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).parent / "sessions" / "dbt_session.sql"
EXPLAINED = (8, 11, 32)
"""Statements, from 0 on, that show a partitioned table: ours tells the bytes of its partitions, Hive none."""


def test_every_statement_answers_as_on_hive(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "hive", tmp_path / "ours"
    theirs.mkdir()
    mine.mkdir()
    with hive("2.3", theirs, f"hive.metastore.warehouse.dir=file:{theirs}/warehouse") as port:
        expected = session(f"thrift://127.0.0.1:{port}", theirs / "warehouse", "dbttest", STATEMENTS)
    with ours(mine) as (metastore, warehouse):
        found = session(metastore, warehouse, "dbttest", STATEMENTS)
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    differing = {sql: (expected[sql], answer) for sql, answer in found.items() if answer != expected[sql]}
    assert {sql: pair for sql, pair in differing.items() if int(sql.split()[0]) not in EXPLAINED} == {}
