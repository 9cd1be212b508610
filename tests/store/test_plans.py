"""Statistics are found by key, whatever PostgreSQL knows of its tables: reading all of them takes much longer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, event, text
from tests.fixtures.databases.postgres import fresh_database
from tests.service.statistics.filled import NAME, make_table

from hmstats.store.connections.connections import database_url
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.store.statistics import aggregates, table_facts
from hmstats.store.statistics.aggregates import Scope

PARTITIONS, ASKED, COLUMNS = 4_000, 1_000, [f"c{number}" for number in range(20)]
_FILL = (
    """INSERT INTO "PARTITIONS" ("PART_ID", "CREATE_TIME", "LAST_ACCESS_TIME", "PART_NAME", "TBL_ID")
       SELECT 1000 + n, 0, 0, 'p=' || n, :table_id FROM generate_series(1, :partitions) n""",
    """INSERT INTO "PART_COL_STATS" ("CS_ID", "CAT_NAME", "DB_NAME", "TABLE_NAME", "PARTITION_NAME", "COLUMN_NAME",
         "COLUMN_TYPE", "PART_ID", "LONG_LOW_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "LAST_ANALYZED", "ENGINE")
       SELECT 1000 + n * 20 + c, 'hive', 'default', 't', 'p=' || n, 'c' || c, 'bigint', 1000 + n, 1, 2, 3, 4, 'hive'
       FROM generate_series(1, :partitions) n, generate_series(0, 19) c""",
)


@pytest.fixture
def scope(store: Store, url: str) -> Scope:
    """A quarter of the partitions of a table with many, which PostgreSQL has looked at."""
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
    assert target is not None
    engine = create_engine(database_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for each in _FILL:
            connection.execute(text(each), {"table_id": target.id, "partitions": PARTITIONS})
        connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()
    return Scope(target.id, [f"p={number}" for number in range(1, ASKED + 1)], COLUMNS, "hive")


@pytest.fixture
def url(postgres_server: str) -> Iterator[str]:
    """An empty database of PostgreSQL."""
    with fresh_database(postgres_server) as found:
        migrate.upgrade(found)
        yield found


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    """It as a store, with a partitioned table."""
    found = Store.open(url)
    make_table(found, tmp_path, [])
    yield found
    found.close()


def test_aggregates_read_the_partitions_that_they_are_of(store: Store, scope: Scope) -> None:
    sent: list[tuple[str, Any]] = []

    def note(_connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        sent.append((statement, parameters))

    with store.read() as connection:
        event.listen(connection, "before_cursor_execute", note)
        found = aggregates.sums(connection, scope)
        ((statement, parameters),) = sent
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())
    assert [each.partitions for each in found] == [ASKED] * len(COLUMNS)
    assert "Seq Scan" not in plan, plan
    assert "Gather" not in plan, plan
