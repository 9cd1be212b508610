"""Databases of other encodings than UTF-8, which PostgreSQL makes where the system's locale is C or an old one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url
from tests.fixtures.databases.postgres import create_database, drop_database

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate

NAME = TableName("hive", "default", "t")
COUNT = 300
"""Partitions, of which some are inserted and some are copied."""
LATIN, OTHER = "é", "日本"

pytestmark = pytest.mark.slow
Opener = Callable[[str], Store]


@pytest.fixture
def opened(postgres_server: str) -> Iterator[Opener]:
    """Opens a store at the newest revision in a database of an encoding."""
    stores, names = list[Store](), list[str]()

    def open_store(encoding: str) -> Store:
        names.append(
            create_database(postgres_server, "template0", f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
        )
        url = make_url(postgres_server).set(database=names[-1]).render_as_string(hide_password=False)
        migrate.upgrade(url)
        stores.append(Store.open(url))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()
    for name in names:
        drop_database(postgres_server, name)


@pytest.mark.parametrize(("encoding", "text"), [("SQL_ASCII", LATIN), ("SQL_ASCII", OTHER), ("LATIN1", LATIN)])
def test_what_is_not_ascii_is_read_as_it_was_written(opened: Opener, tmp_path: Path, encoding: str, text: str) -> None:
    store, warehouse = opened(encoding), Warehouse(str(tmp_path))
    make_table(store, warehouse, text)
    values = [f"{text}{each:03}" for each in range(COUNT)]
    PartitionChanges(store, warehouse).add(NAME, [Partition(values=(each,), storage=Storage()) for each in values])
    found = Tables(store, warehouse).get(NAME)
    assert found.storage is not None
    assert found.storage.columns == (Column("c", "int", text),)
    assert Partitions(store).names(NAME) == [f"s={each}" for each in values]
    assert list(Partitions(store).filtered(NAME, f"s = '{values[7]}'").partitions) == [f"s={values[7]}"]


def test_what_the_encoding_lacks_is_refused(opened: Opener, tmp_path: Path) -> None:
    store, warehouse = opened("LATIN1"), Warehouse(str(tmp_path))
    with pytest.raises(MetaError, match='has no equivalent in encoding "LATIN1"'):
        make_table(store, warehouse, OTHER)
    make_table(store, warehouse, LATIN)


def make_table(store: Store, warehouse: Warehouse, comment: str) -> None:
    """A table with one partition key, whose column has the comment."""
    Databases(store, warehouse).ensure_default()
    storage, keys = Storage(columns=(Column("c", "int", comment),)), (Column("s", "string"),)
    Tables(store, warehouse).create(Table(name=NAME, storage=storage, partition_keys=keys))
