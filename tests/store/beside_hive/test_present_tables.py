import pytest
from sqlalchemy import create_engine, text
from tests.fixtures.databases.hive_schemas import SCHEMAS

from hmstats.errors import MetaError, SchemaError
from hmstats.store.beside_hive import present_tables
from hmstats.store.beside_hive.present_tables import COMPLETE, OURS, Shape
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.schema import DATACONNECTORS, DBS, SDS, TAB_COL_STATS, TBLS

TRANSACTIONS = {"HIVE_LOCKS", "NEXT_LOCK_ID", "NEXT_WRITE_ID", "TXNS", "TXN_COMPONENTS", "TXN_TO_WRITE_ID"}
CONNECTORS = {"DATACONNECTORS", "DATACONNECTOR_PARAMS"}
VIEWS = {"MV_CREATION_METADATA", "MV_TABLES_USED"}
RUNTIME = {"RUNTIME_STATS"}
"""Hive 3.1 has it in lower case on PostgreSQL, where it does not find it itself."""
PARAMETERS = {"CATALOG_PARAMS"}
ABSENT_TABLES = {
    "2.3": {*TRANSACTIONS, *CONNECTORS, *VIEWS, *RUNTIME, *PARAMETERS, "CTLGS", "METASTORE_DB_PROPERTIES"},
    "3.1": {*TRANSACTIONS, *CONNECTORS, *RUNTIME, *PARAMETERS},
    "4.0": PARAMETERS,
    "4.1": PARAMETERS,
    "4.2": set[str](),
}
ABSENT_OF_STATISTICS = {
    "2.3": {"CAT_NAME", "BIT_VECTOR", "ENGINE", "HISTOGRAM"},
    "3.1": {"ENGINE", "HISTOGRAM"},
    "4.0": set[str](),
    **{each: {"CAT_NAME", "DB_NAME", "TABLE_NAME"} for each in ("4.1", "4.2")},
}


def _read(url: str) -> Shape:
    store = Store.open(url, pool_size=1)
    try:
        with store.read() as connection:
            return present_tables.read(connection)
    finally:
        store.close()


def test_what_a_hive_lacks_is_found(hive_database: str, hive_generation: str) -> None:
    found = _read(hive_database)
    assert found.hive == SCHEMAS[hive_generation]
    assert found.beside_hive
    assert not found.adopted
    assert {each for each in found.absent_tables if not each.startswith(OURS)} == ABSENT_TABLES[hive_generation]
    assert set(found.absent(TAB_COL_STATS)) == ABSENT_OF_STATISTICS[hive_generation]
    assert found.present(SDS, ["SD_ID", "LOCATION"]) == ["SD_ID", "LOCATION"]
    assert ("WRITE_ID" in found.absent(TBLS)) is (hive_generation < "4.0")
    assert ("CTLG_NAME" in found.absent(DBS)) is (hive_generation == "2.3")


def test_ours_lacks_nothing(database_url: str) -> None:
    assert _read(database_url) is COMPLETE


def test_an_empty_database_can_become_ours(empty_postgres_url: str) -> None:
    assert _read(empty_postgres_url) is COMPLETE


@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
def test_another_version_of_hive_is_refused(hive_database: str) -> None:
    engine = create_engine(database_url_of(hive_database))
    with engine.begin() as connection:
        connection.execute(text("""UPDATE "VERSION" SET "SCHEMA_VERSION" = '5.0.0'"""))
    engine.dispose()
    with pytest.raises(SchemaError, match=r"one of the schemas 2\.3\.0, .*, 4\.2\.0, found 5\.0\.0 in its table"):
        _read(hive_database)


def test_a_table_that_is_not_there_keeps_nothing() -> None:
    with pytest.raises(
        MetaError, match=r"the database has no table DATACONNECTORS to store this in: its Hive has schema 3\.1\.0"
    ):
        Shape("3.1.0", frozenset({"DATACONNECTORS"})).present(DATACONNECTORS, ["NAME"])
