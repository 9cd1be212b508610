"""A call that reads sees one snapshot of the database, whatever is written while it runs."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text
from tests.store.catalog_values import NAME, make_table

from hmstats.errors import MetaError
from hmstats.server.calls.one_snapshot import with_one_snapshot
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_TABLES


@pytest.fixture
def table_id(store: Store) -> int:
    """A table."""
    return make_table(store)


def put(store: Store, table_id: int, value: str) -> None:
    store.write(lambda unit: parameters.put(unit, OF_TABLES, {table_id: {"said": value}}))


def said(store: Store) -> str | None:
    with store.read() as connection:
        table = tables.get(connection, NAME)
    assert table is not None
    return table.parameters.get("said")


def twice(store: Store, table_id: int) -> Iterator[str | None]:
    """What two reads of one call say, between which another writes."""
    yield said(store)
    put(store, table_id, "new")
    yield said(store)


@pytest.mark.parametrize(("name", "second"), [("get_table_req", "old"), ("alter_table", "new")])
def test_what_is_written_while_a_call_reads_is_not_seen_by_it(
    store: Store, table_id: int, name: str, second: str
) -> None:
    put(store, table_id, "old")
    calls = with_one_snapshot({name: lambda: [*twice(store, table_id)]}, store)
    assert calls[name]() == ["old", second]
    assert said(store) == "new"


def test_a_read_that_failed_does_not_make_the_next_one_fail(store: Store, table_id: int) -> None:
    def call() -> str | None:
        with pytest.raises(MetaError), store.read() as connection:
            connection.execute(text("SELECT * FROM nothing_of_this_name"))
        return said(store)

    put(store, table_id, "old")
    assert with_one_snapshot({"get_table": call}, store)["get_table"]() == "old"


def test_a_call_gives_its_connection_back(sqlite_url: str) -> None:
    store = Store.open(sqlite_url, pool_size=1, statement_seconds=2)
    make_table(store)
    calls = with_one_snapshot({"get_table": lambda: [said(store), said(store)]}, store)
    for _ in range(3):
        assert calls["get_table"]() == [None, None]
    store.close()
