"""A database that sorts as English does gives names and filters by their bytes all the same, as Hive and Spark sort."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from hmstats.model.catalog.functions import Function, FunctionName
from hmstats.model.catalog.objects import Column, Database, DatabaseName, Partition, Storage, Table, TableName
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.databases.functions import Functions
from hmstats.service.catalog.partitions.known_partitions import KnownPartitions
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partitions import KeyValues, Partitions
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

NAME = TableName("hive", "default", "t")
TABLE = Table(name=NAME, storage=Storage(columns=(Column("c", "int"),)))
VALUES = ("B", "Z", "a", "a-b", "a_b", "ab", "b", "é")
"""In the order of their bytes; English has a, a-b, a_b, ab, b, B, é, Z, in one order or another."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The warehouse of the module's tables."""
    return Warehouse(str(tmp_path_factory.mktemp("warehouse")))


@pytest.fixture(scope="module")
def partitions(english_store: Store, warehouse: Warehouse) -> Partitions:
    """A table with a partition for each value."""
    with english_store.read() as connection:
        assert connection.execute(text("SELECT 'a' < 'B'")).scalar_one(), "the database sorts by bytes"
    Databases(english_store, warehouse).ensure_default()
    keys = (Column("s", "string"),)
    Tables(english_store, warehouse).create(replace(TABLE, partition_keys=keys))
    new = [Partition(values=(each,), storage=Storage()) for each in reversed(VALUES)]
    PartitionChanges(english_store, warehouse).add(NAME, new)
    return Partitions(english_store)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("s < 'a'", ["B", "Z"]),
        ("s <= 'a'", ["B", "Z", "a"]),
        ("s > 'a_b'", ["ab", "b", "é"]),
        ("s >= 'a_b'", ["a_b", "ab", "b", "é"]),
        ("s between 'Z' and 'a_'", ["Z", "a", "a-b"]),
        ("not s < 'b'", ["b", "é"]),
        ("s like 'A%'", []),
        ("s in ('b', 'z')", ["b"]),
    ],
)
def test_a_filter_compares_bytes(
    english_store: Store, partitions: Partitions, condition: str, found: list[str]
) -> None:
    in_memory = Partitions(english_store, KnownPartitions(english_store, BoundedMemory(2**20)))
    for each in (partitions, in_memory, in_memory, in_memory, in_memory):
        assert [one.values[0] for one in each.filtered(NAME, condition).partitions.values()] == found
    assert partitions.count(NAME, condition) == len(found)


def test_names_and_values_are_sorted_by_bytes(partitions: Partitions) -> None:
    names = [f"s={each}" for each in VALUES]
    assert partitions.names(NAME) == names
    assert partitions.names(NAME, 3) == names[:3]
    assert list(partitions.all(NAME, 4).partitions) == names[:4]
    assert partitions.names_matching(NAME, [""], 5) == names[:5]
    assert partitions.key_values(NAME, KeyValues(["s"])) == [(each,) for each in VALUES]


def test_tables_databases_and_functions_are_sorted_by_bytes(
    english_store: Store, warehouse: Warehouse, partitions: Partitions
) -> None:
    names = ["a1", "a_1", "aa"]  # English has a_1 first
    tables, databases = Tables(english_store, warehouse), Databases(english_store, warehouse)
    functions, inside = Functions(english_store), DatabaseName("hive", "default")
    for each in reversed(names):
        databases.create(Database(name=DatabaseName("hive", each), location=f"{warehouse.root}/{each}.db"))
        tables.create(replace(TABLE, name=replace(NAME, table=each)))
        functions.create(Function(name=FunctionName("hive", "default", each), class_name="C", owner_type="USER"))
    assert tables.names(inside, "a.*") == names
    assert databases.names("hive", "a*") == names
    assert functions.names(inside, None) == names
    assert [each.name.function for each in functions.all()] == names
