"""Our own tables come into a Hive's database, and go, and nothing else there changes."""

from typing import Any

import pytest
from sqlalchemy import create_engine, text

from hmstats.errors import SchemaError
from hmstats.store.beside_hive.present_tables import OURS
from hmstats.store.connections.jdbc import with_schema
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate, schema_revision
from hmstats.store.opening import open_store
from hmstats.store.schema import METADATA

OWN = {name for name in METADATA.tables if name.startswith(OURS)} | {schema_revision.VERSION_TABLE}
_COLUMNS = """
    SELECT c.relname, c.reloptions, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = 'public' AND a.attnum > 0 AND c.relkind IN ('r', 'i') ORDER BY 1, a.attnum
"""
_CONSTRAINTS = "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1, 2"
_SEEDS = 'SELECT * FROM "SEQUENCE_TABLE" ORDER BY 1', 'SELECT * FROM "VERSION"', 'SELECT * FROM "NOTIFICATION_SEQUENCE"'


def look(url: str) -> list[Any]:
    """Every table, column, index, constraint and seed that is not ours."""
    engine = create_engine(database_url_of(url))
    with engine.connect() as connection:
        found = [[tuple(row) for row in connection.execute(text(each))] for each in (_COLUMNS, _CONSTRAINTS, *_SEEDS)]
    engine.dispose()
    return [[row for row in rows if OURS not in str(row[0])] for rows in found]


def own_tables(url: str, schema: str = "public") -> set[str]:
    engine = create_engine(database_url_of(url))
    with engine.connect() as connection:
        query = text("SELECT tablename FROM pg_tables WHERE schemaname = :schema")
        found = set(connection.execute(query, {"schema": schema}).scalars())
    engine.dispose()
    return {name for name in found if name.startswith(OURS)}


def test_only_our_own_tables_are_made_and_removed(hive_database: str) -> None:
    before = look(hive_database)
    migrate.adopt(hive_database)
    assert own_tables(hive_database) == OWN
    assert look(hive_database) == before
    migrate.adopt(hive_database)
    migrate.upgrade(hive_database)
    assert look(hive_database) == before
    migrate.downgrade(hive_database, "base")
    assert own_tables(hive_database) == {schema_revision.VERSION_TABLE}
    assert look(hive_database) == before


@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
def test_our_own_tables_can_be_in_a_schema_of_their_own(hive_database: str) -> None:
    before = look(hive_database)
    url = with_schema(hive_database, "own")
    migrate.adopt(url, "own")
    assert (own_tables(hive_database, "own"), own_tables(hive_database)) == (OWN, set())
    assert look(hive_database) == before
    store = open_store(url, pool_size=1, statement_seconds=30.0)
    assert store.shape.adopted
    store.close()


def test_a_database_without_our_tables_is_not_served(hive_database: str) -> None:
    with pytest.raises(SchemaError, match=r"our tables are not in it: run `hmstats adopt --write` first"):
        open_store(hive_database, pool_size=1, statement_seconds=30.0)
    store = open_store(hive_database, pool_size=1, statement_seconds=30.0, read_only=True)
    assert store.shape.beside_hive
    store.close()
    assert own_tables(hive_database) == set()


def test_a_database_that_is_no_hives_is_not_adopted(database_url: str) -> None:
    with pytest.raises(SchemaError, match="is not the database of a Hive Metastore"):
        migrate.adopt(database_url)
