"""Stores over the databases of real Hives, and statistics written there as Hive would leave them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.store.opening import open_store
from hmstats.store.schema import TAB_COL_STATS


@contextmanager
def store_beside(url: str) -> Iterator[Store]:
    """A store over a Hive's database, in which our own tables are made."""
    migrate.adopt(url)
    store = open_store(url, pool_size=2, statement_seconds=30.0)
    yield store
    store.close()


def twice(store: Store, table_id: int, *rows: tuple[int, int, int | None]) -> None:
    """Statistics of column `id` as two writers of Hive's leave them: (CS_ID, LAST_ANALYZED, NUM_DISTINCTS) of each."""
    values = {
        "CS_ID": ":key",
        "TBL_ID": ":table",
        "LAST_ANALYZED": ":analyzed",
        "NUM_DISTINCTS": ":ndv",
        "DB_NAME": "'default'",
        "TABLE_NAME": "'t'",
        "COLUMN_NAME": "'id'",
        "COLUMN_TYPE": "'bigint'",
        "NUM_NULLS": "0",
        "LONG_LOW_VALUE": "3",
        "LONG_HIGH_VALUE": "8",
        "ENGINE": "'hive'",
    }
    there = store.shape.present(TAB_COL_STATS, values)
    columns = ", ".join(f'"{name}"' for name in there)
    statement = text(f'INSERT INTO "TAB_COL_STATS" ({columns}) VALUES ({", ".join(values[name] for name in there)})')
    sent = [{"key": key, "table": table_id, "analyzed": analyzed, "ndv": ndv} for key, analyzed, ndv in rows]
    store.write(lambda unit: unit.connection.execute(statement, sent))


def rows_of(store: Store) -> list[tuple[Any, ...]]:
    """Id, time and distinct values of every row of statistics of tables, as it is stored."""
    query = text('SELECT "CS_ID", "LAST_ANALYZED", "NUM_DISTINCTS" FROM "TAB_COL_STATS" ORDER BY 1')
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(query)]
