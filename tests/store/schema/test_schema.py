"""Our tables in PostgreSQL beside those that Hive's own script makes (read into testdata/hive-schema-4.0.json)."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from hmstats.store.database.store import Store
from hmstats.store.schema import METADATA

HIVE: dict[str, dict[str, dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "testdata" / "hive-schema-4.0.json").read_text()
)
LATER = {"CATALOG_PARAMS"}
"""Tables that Hive has since 4.2."""
SHARED = sorted(name for name in METADATA.tables.keys() - LATER if not name.startswith("HMSTATS_"))
OURS = "HMSTATS_"
_COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY c.relname, a.attnum
"""
_CONSTRAINTS = """
    SELECT c.relname, k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.connamespace = 'public'::regnamespace AND k.contype <> 'n'
"""
_INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"


@pytest.fixture
def postgres_store(postgres_url: str) -> Any:
    store = Store.open(postgres_url)
    yield store
    store.close()


def _rows(store: Store, query: str) -> list[Any]:
    with store.read() as connection:
        return list(connection.execute(text(query)))


def _default(expression: str | None) -> str | None:
    return None if expression is None else expression.split("::")[0].strip("'")


@pytest.mark.parametrize("table", SHARED)
def test_the_facts_name_every_table_that_is_hives(table: str) -> None:
    assert table in HIVE


def test_columns_have_hives_order_types_nullability_and_defaults(postgres_store: Store) -> None:
    found: dict[str, dict[str, list[Any]]] = {}
    for table, column, kind, nullable, default in _rows(postgres_store, _COLUMNS):
        found.setdefault(table, {})[column] = [kind, nullable, _default(default)]
    for table in SHARED:
        assert list(found[table].items()) == list(HIVE[table]["columns"].items()), table


def test_constraints_are_hives_by_name_and_text(postgres_store: Store) -> None:
    found: dict[str, dict[str, str]] = {}
    for table, name, definition in _rows(postgres_store, _CONSTRAINTS):
        found.setdefault(table, {})[name] = definition
    assert {table: found.get(table, {}) for table in SHARED} == {table: HIVE[table]["constraints"] for table in SHARED}


def test_indexes_are_hives_and_three_of_ours(postgres_store: Store) -> None:
    found: dict[str, dict[str, str]] = {table: {} for table in METADATA.tables}
    for table, name, definition in _rows(postgres_store, _INDEXES):
        unique = "unique " if "UNIQUE" in definition else ""
        found.setdefault(table, {})[name] = unique + definition[definition.rindex("(") :]
    added = {name: found[table].pop(name) for table in SHARED for name in list(found[table]) if name.startswith(OURS)}
    assert {table: found[table] for table in SHARED} == {table: HIVE[table]["indexes"] for table in SHARED}
    assert added == {
        "HMSTATS_TAB_COL_STATS_UNIQUE": 'unique ("TBL_ID", "COLUMN_NAME", "ENGINE")',
        "HMSTATS_SDS_LOCATION": '("LOCATION")',
        "HMSTATS_PART_COL_STATS_UNIQUE": 'unique ("PART_ID", "COLUMN_NAME", "ENGINE")',
    }


def test_every_other_table_in_the_database_carries_our_prefix(postgres_store: Store) -> None:
    tables = {row[0] for row in _rows(postgres_store, _COLUMNS)}
    ours = {name for name in METADATA.tables if name.startswith(OURS)}
    assert {name for name in tables if name not in HIVE} == {*ours, *LATER, "HMSTATS_ALEMBIC_VERSION"}


def test_pages_of_what_is_updated_often_keep_room(postgres_store: Store) -> None:
    rows = _rows(
        postgres_store,
        "SELECT relname, each FROM pg_class, unnest(reloptions) AS each "
        "WHERE relkind = 'r' AND each LIKE 'fillfactor%'",
    )
    given = {name: table.info.get("fillfactor") for name, table in METADATA.tables.items()}
    expected = {name: f"fillfactor={percent}" for name, percent in given.items() if percent}
    assert {row[0]: row[1] for row in rows} == expected
    assert expected["PART_COL_STATS"] == "fillfactor=40"
