from pathlib import Path

import pytest
from tests.fixtures.databases.hive_schemas import SCHEMAS
from tests.store.beside import store_beside, twice
from tests.store.catalog_values import make_partitions, make_table
from tests.store.migration.test_only_ours import OWN, look, own_tables

from hmstats.errors import SchemaError
from hmstats.store.migration import migrate, schema_revision
from hmstats.store.migration.hive_survey import survey
from hmstats.store.opening import open_store

WAREHOUSE = "file:/user/hive/warehouse"


def test_an_untouched_database(hive_database: str, hive_generation: str) -> None:
    before = look(hive_database)
    found = survey(hive_database, warehouse=WAREHOUSE)
    assert found.hive_schema == SCHEMAS[hive_generation]
    assert found.own_tables is None
    assert set(found.rows.values()) == {0}
    assert found.duplicates == {"TAB_COL_STATS": 0, "PART_COL_STATS": 0}
    assert set(found.impossible.values()) == {0}
    assert set(found.rights.values()) == {True}
    works = {each.name: each.works for each in found.abilities}
    assert works["bit vectors"] is (hive_generation != "2.3")
    assert works["statistics by engine"] is (hive_generation >= "4.0")
    assert look(hive_database) == before
    assert own_tables(hive_database) == set()


@pytest.mark.parametrize("hive_logs", [True, False])
def test_answers_are_kept_where_hive_logs_all_that_it_changes(
    hive_database: str, hive_generation: str, hive_logs: bool
) -> None:
    (kept,) = (
        each
        for each in survey(hive_database, warehouse=WAREHOUSE, hive_logs=hive_logs).abilities
        if each.name == "kept answers"
    )
    assert kept.works is (hive_logs and hive_generation == "4.0")
    migrate.adopt(hive_database)
    store = open_store(hive_database, pool_size=1, statement_seconds=30.0, hive_logs=hive_logs)
    assert store.sees_all_changes is kept.works
    store.close()
    if hive_generation == "4.0":
        assert ("--hive-site" in kept.note) is not hive_logs
    else:
        assert "is not known to tell of all changes" in kept.note


def test_what_is_wrong_is_counted(hive_database: str) -> None:
    with store_beside(hive_database) as store:
        table_id = make_table(store)
        make_partitions(store, table_id, "a", "b")
        twice(store, table_id, (900_001, 10, -5), (900_002, 30, 7))
    found = survey(hive_database, warehouse=WAREHOUSE)
    assert found.own_tables == schema_revision.head()
    assert own_tables(hive_database) == OWN
    assert {name: number for name, number in found.rows.items() if number} == {
        "databases": 1,
        "tables": 1,
        "partitions": 2,
        "statistics of tables' columns": 2,
    }
    assert found.duplicates == {"TAB_COL_STATS": 1, "PART_COL_STATS": 0}


def test_statistics_that_cannot_be_true_are_counted(hive_database: str) -> None:
    with store_beside(hive_database) as store:
        table_id = make_table(store)
        twice(store, table_id, (900_001, 10, -5))
    found = survey(hive_database, warehouse=WAREHOUSE)
    wrong = {what: number for what, number in found.impossible.items() if number}
    assert wrong == {"a negative number of distinct values": 1}


def test_a_database_that_is_no_hives(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").touch()
    with pytest.raises(SchemaError, match="is not the database of a Hive Metastore"):
        survey(f"sqlite:///{tmp_path}/x.sqlite", warehouse=WAREHOUSE)
