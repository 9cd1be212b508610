import logging
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, insert, inspect, select, text

from hmstats.errors import SchemaError
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate, schema_revision
from hmstats.store.schema import CTLGS, METADATA, NOTIFICATION_SEQUENCE, SEQUENCE_TABLE, VERSION

SEEDED = (CTLGS, VERSION, NOTIFICATION_SEQUENCE, SEQUENCE_TABLE)


def _tables(url: str) -> set[str]:
    engine = create_engine(database_url_of(url))
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def _execute(url: str, *statements: str) -> None:
    engine = create_engine(database_url_of(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _seeds(url: str) -> dict[str, list[tuple[object, ...]]]:
    store = Store.open(url)
    with store.read() as connection:
        found = {
            table.name: sorted(tuple(row) for row in connection.execute(select(*table.c).order_by(table.c[0])))
            for table in SEEDED
        }
    store.close()
    return found


def test_upgrade_makes_every_table_and_the_rows_that_hive_begins_with(database_url_empty: str) -> None:
    assert schema_revision.current(database_url_empty) is None
    migrate.upgrade(database_url_empty)
    assert schema_revision.current(database_url_empty) == schema_revision.head()
    assert _tables(database_url_empty) == {*METADATA.tables, schema_revision.VERSION_TABLE}
    model = "org.apache.hadoop.hive.metastore.model."
    assert _seeds(database_url_empty) == {
        "CTLGS": [(1, "hive", "Default catalog for Hive", "TBD", None)],
        "VERSION": [(1, "4.0.0", "Hive release version 4.0.0")],
        "NOTIFICATION_SEQUENCE": [(1, 1)],
        "SEQUENCE_TABLE": [(f"{model}MNotificationLog", 1), (f"{model}MTxnWriteNotificationLog", 1)],
    }


def test_upgrade_a_second_time_changes_nothing(database_url: str) -> None:
    before = _seeds(database_url)
    migrate.upgrade(database_url)
    assert _seeds(database_url) == before


def test_downgrade_removes_every_table_and_upgrade_brings_them_back(database_url: str) -> None:
    migrate.downgrade(database_url, "base")
    assert schema_revision.current(database_url) is None
    assert _tables(database_url) == {schema_revision.VERSION_TABLE}
    migrate.upgrade(database_url)
    assert schema_revision.current(database_url) == schema_revision.head()


def test_the_migrations_make_what_the_schema_module_says(database_url: str) -> None:
    store = Store.open(database_url)
    with store.read() as connection:
        options = {"version_table": schema_revision.VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, METADATA) == []
    store.close()


def test_the_sql_for_a_person_makes_the_same_database(empty_postgres_url: str) -> None:
    engine = create_engine(database_url_of(empty_postgres_url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(migrate.sql(empty_postgres_url).replace("%", "%%"))
    engine.dispose()
    store = Store.open(empty_postgres_url)
    schema_revision.require_current(store)
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": schema_revision.VERSION_TABLE})
        assert compare_metadata(context, METADATA) == []
    store.close()
    assert _seeds(empty_postgres_url)["CTLGS"] == [(1, "hive", "Default catalog for Hive", "TBD", None)]


def test_the_sql_for_an_older_database_makes_what_it_lacks(database_url: str, database_url_empty: str) -> None:
    migrate.upgrade(database_url)
    assert migrate.missing_sql(database_url) == ""
    migrate.downgrade(database_url, "0020")
    written = migrate.missing_sql(database_url)
    assert '"HMSTATS_NUMBER_BLOCK"' in written
    assert 'CREATE TABLE "TBLS"' not in written
    assert schema_revision.current(database_url) == "0020"
    _execute(database_url, *(each for each in written.split(";") if each.strip()))
    store = Store.open(database_url)
    schema_revision.require_current(store)
    store.close()
    assert migrate.missing_sql(database_url_empty) == migrate.sql(database_url_empty)
    _execute(database_url_empty, 'CREATE TABLE "TBLS" ("TBL_ID" BIGINT)')
    with pytest.raises(SchemaError, match="belongs to another metastore"):
        migrate.missing_sql(database_url_empty)


def test_the_sql_needs_no_database_and_shows_no_password() -> None:
    written = migrate.sql("postgresql://someone:secret@nowhere.invalid/name")
    assert 'CREATE TABLE "TBLS"' in written
    assert "secret" not in written


def test_another_metastores_database_is_refused_and_left_alone(database_url_empty: str) -> None:
    _execute(database_url_empty, 'CREATE TABLE "TBLS" ("TBL_ID" BIGINT)', 'INSERT INTO "TBLS" VALUES (7)')
    with pytest.raises(SchemaError, match=r"tables that hmstats did not make \(TBLS \.\.\.\).*nothing was changed"):
        migrate.upgrade(database_url_empty)
    assert _tables(database_url_empty) == {"TBLS"}


def test_a_migration_that_fails_leaves_nothing(database_url_empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = command.upgrade

    def half(config: Config, revision: str) -> None:
        upgrade(config, revision)
        raise RuntimeError("the machine stops here")

    monkeypatch.setattr(command, "upgrade", half)
    with pytest.raises(RuntimeError, match="stops here"):
        migrate.upgrade(database_url_empty)
    assert _tables(database_url_empty) == set()


def test_two_upgrades_at_once_both_succeed(database_url_empty: str) -> None:
    barrier, errors = threading.Barrier(2), list[Exception]()

    def run() -> None:
        barrier.wait()
        try:
            migrate.upgrade(database_url_empty)
        except Exception as error:  # noqa: BLE001 - a thread's error is the test's
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert schema_revision.current(database_url_empty) == schema_revision.head()


def test_require_current_says_what_to_run(database_url_empty: str) -> None:
    store = Store.open(database_url_empty)
    with pytest.raises(SchemaError) as refused:
        schema_revision.require_current(store)
    migrate.upgrade(database_url_empty)
    schema_revision.require_current(store)
    store.close()
    assert str(refused.value) == (
        f"database {store.name} has schema none, this version needs {schema_revision.head()}: "
        "run `hmstats migrate --database URL` first"
    )


def test_a_newer_schema_is_neither_served_nor_upgraded(database_url: str) -> None:
    _execute(database_url, f"UPDATE \"{schema_revision.VERSION_TABLE}\" SET version_num = '9999'")
    store = Store.open(database_url)
    with pytest.raises(
        SchemaError, match=r"has schema 9999, this version needs .*: a newer version of hmstats made it"
    ):
        schema_revision.require_current(store)
    store.close()
    with pytest.raises(SchemaError, match=r"cannot be migrated: .*9999"):
        migrate.upgrade(database_url)


def test_downgrade_to_an_unknown_revision_is_refused(database_url: str) -> None:
    with pytest.raises(SchemaError, match=r"cannot be migrated: .*no_such"):
        migrate.downgrade(database_url, "no_such")
    assert schema_revision.current(database_url) == schema_revision.head()


def test_looking_for_the_revision_makes_no_file(tmp_path: Path) -> None:
    assert schema_revision.current(f"sqlite:///{tmp_path / 'absent.sqlite'}") is None
    assert list(tmp_path.iterdir()) == []


def test_migrating_leaves_logging_alone(tmp_path: Path) -> None:
    root = logging.getLogger()
    mine = logging.getLogger("hmstats.test_migrating")
    before = (root.level, list(root.handlers), mine.disabled)
    migrate.upgrade(f"sqlite:///{tmp_path / 'logs.sqlite'}")
    assert (root.level, list(root.handlers), mine.disabled) == before


def test_unique_statistics_are_the_databases_rule(database_url: str) -> None:
    store = Store.open(database_url)
    with store.read() as connection:
        indexes = {index["name"]: index for index in inspect(connection).get_indexes("TAB_COL_STATS")}
    store.close()
    unique = indexes["HMSTATS_TAB_COL_STATS_UNIQUE"]
    assert unique["unique"]
    assert unique["column_names"] == ["TBL_ID", "COLUMN_NAME", "ENGINE"]


def test_a_second_catalog_of_one_name_is_refused_by_the_database(store: Store) -> None:
    row = {"CTLG_ID": 2, "NAME": "hive", "LOCATION_URI": "x"}
    with pytest.raises(Exception, match="refuses the change"):
        store.write(lambda unit: unit.connection.execute(insert(CTLGS), row))
