"""The index of locations is there after a migration, and an interrupted one is made again."""

import pytest
from sqlalchemy import create_engine, inspect, text

from hmstats.store.connections.connections import database_url as url_of
from hmstats.store.migration import location_index, migrate
from hmstats.store.schema.storage import LOCATION_INDEX


def _indexes(url: str) -> set[str | None]:
    engine = create_engine(url_of(url))
    try:
        return {each["name"] for each in inspect(engine).get_indexes("SDS")}
    finally:
        engine.dispose()


def _run(url: str, *statements: str) -> None:
    engine = create_engine(url_of(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for each in statements:
            connection.execute(text(each))
    engine.dispose()


def test_a_migration_brings_the_index_to_a_database_without_it(database_url: str) -> None:
    _run(database_url, f'DROP INDEX "{LOCATION_INDEX}"')
    assert LOCATION_INDEX not in _indexes(database_url)
    migrate.upgrade(database_url)
    assert LOCATION_INDEX in _indexes(database_url)
    migrate.upgrade(database_url)


def test_an_index_that_was_interrupted_is_made_again(postgres_url: str) -> None:
    name = LOCATION_INDEX
    _run(postgres_url, f"""UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('"{name}"')""")
    migrate.upgrade(postgres_url)
    engine = create_engine(url_of(postgres_url))
    with engine.connect() as connection:
        query = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
        assert connection.execute(query, {"name": f'"{name}"'}).scalar_one()
    engine.dispose()


@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
def test_a_hives_tables_get_no_index(hive_database: str, hive_generation: str) -> None:
    migrate.adopt(hive_database)
    location_index.make(hive_database)
    assert LOCATION_INDEX not in _indexes(hive_database)
