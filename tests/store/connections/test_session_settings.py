"""What a session is told wins over defaults of its database and role, and the URL wins over that."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, make_url, text

from hmstats.errors import StoreUnavailable
from hmstats.store.connections.connections import database_url
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.store.schema.storage import LOCATION_INDEX

DEFAULTS = {
    "extra_float_digits": "0",
    "default_transaction_isolation": "'repeatable read'",
    "bytea_output": "'escape'",
    "datestyle": "'German, DMY'",
    "standard_conforming_strings": "off",
}


@pytest.fixture
def admin(empty_postgres_url: str) -> Iterator[Engine]:
    """An engine of a database without tables, with its own defaults."""
    engine = create_engine(database_url(empty_postgres_url), isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


def asked(url: str, query: str) -> list[object]:
    """What a reader and a writer say to a query."""
    store = Store.open(url)
    with store.read() as connection:
        found = [connection.execute(text(query)).scalar_one()]
    found.append(store.write(lambda unit: unit.connection.execute(text(query)).scalar_one()))
    store.close()
    return found


def test_defaults_of_a_database_change_no_number_and_no_isolation(empty_postgres_url: str, admin: Engine) -> None:
    with admin.connect() as connection:
        for name, value in DEFAULTS.items():
            database = make_url(empty_postgres_url).database
            connection.execute(text(f'ALTER DATABASE "{database}" SET {name} = {value}'))
    migrate.upgrade(empty_postgres_url)
    assert asked(empty_postgres_url, "SELECT CAST(0.1 AS FLOAT) + CAST(0.2 AS FLOAT)") == [0.1 + 0.2] * 2
    assert asked(empty_postgres_url, "SHOW transaction_isolation") == ["repeatable read", "read committed"]


@pytest.mark.parametrize("given", [{"currentSchema": "own"}, {"options": "-csearch_path=own"}])
def test_tables_and_their_index_are_made_in_the_schema_that_the_url_names(
    empty_postgres_url: str, admin: Engine, given: dict[str, str]
) -> None:
    with admin.connect() as connection:
        connection.execute(text("CREATE SCHEMA own"))
    url = make_url(empty_postgres_url).update_query_dict(given).render_as_string(hide_password=False)
    migrate.upgrade(url)
    with admin.connect() as connection:
        schemas = connection.execute(
            text("SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname IN ('own', 'public')")
        )
        assert list(schemas.scalars()) == ["own"]
        index = text("SELECT schemaname FROM pg_indexes WHERE indexname = :name")
        assert list(connection.execute(index, {"name": LOCATION_INDEX}).scalars()) == ["own"]
    assert asked(url, 'SELECT count(*) FROM "TBLS"') == [0, 0]


def test_what_a_url_says_of_its_session_wins(postgres_url: str) -> None:
    said = {"application_name": "mine", "options": "-c default_transaction_isolation=serializable -c lock_timeout=7s"}
    url = make_url(postgres_url).update_query_dict(said).render_as_string(hide_password=False)
    assert asked(url, "SHOW application_name") == ["mine", "mine"]
    assert asked(url, "SHOW lock_timeout") == ["7s", "7s"]
    assert asked(url, "SHOW transaction_isolation") == ["repeatable read", "serializable"]
    assert asked(url, "SHOW jit") == ["off", "off"]


def test_a_database_that_lacks_a_setting_is_told_to_be_old(postgres_url: str) -> None:
    url = make_url(postgres_url).update_query_dict({"options": "-c no_such_setting=1"})
    with pytest.raises(StoreUnavailable, match=r'"no_such_setting", hmstats needs PostgreSQL 12 or newer$'):
        Store.open(url.render_as_string(hide_password=False)).check_connection()
