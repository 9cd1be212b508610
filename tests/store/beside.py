"""Stores over the databases of real Hives, and statistics written there as Hive would leave them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.store.opening import open_store


@contextmanager
def store_beside(url: str) -> Iterator[Store]:
    """A store over a Hive's database, in which our own tables are made."""
    migrate.adopt(url)
    store = open_store(url, pool_size=2, statement_seconds=30.0)
    yield store
    store.close()


def twice(store: Store, table_id: int, *rows: tuple[int, int, int | None]) -> None:
    """Statistics of column `id` as two writers of Hive's leave them: (CS_ID, LAST_ANALYZED, NUM_DISTINCTS) of each."""
    engine = "" if "ENGINE" in store.shape.absent_columns.get("TAB_COL_STATS", ()) else ', "ENGINE"'
    statement = text(f"""
        INSERT INTO "TAB_COL_STATS" ("CS_ID", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "COLUMN_TYPE", "TBL_ID",
            "NUM_NULLS", "LONG_LOW_VALUE", "LONG_HIGH_VALUE", "LAST_ANALYZED", "NUM_DISTINCTS"{engine})
        VALUES (:key, 'default', 't', 'id', 'bigint', :table, 0, 3, 8, :analyzed, :ndv{", 'hive'" if engine else ""})
    """)
    values = [{"key": key, "table": table_id, "analyzed": analyzed, "ndv": ndv} for key, analyzed, ndv in rows]
    store.write(lambda unit: unit.connection.execute(statement, values))


def rows_of(store: Store) -> list[tuple[Any, ...]]:
    """Id, time and distinct values of every row of statistics of tables, as it is stored."""
    query = text('SELECT "CS_ID", "LAST_ANALYZED", "NUM_DISTINCTS" FROM "TAB_COL_STATS" ORDER BY 1')
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(query)]
