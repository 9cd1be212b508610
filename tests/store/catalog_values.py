"""Tables, partitions and storages to store: fixed ones, and strategies for any."""

from hypothesis import strategies as st

from hmstats.model.catalog.objects import (
    Column,
    Database,
    DatabaseName,
    Partition,
    SerDe,
    SkewedInfo,
    SortColumn,
    Storage,
    Table,
    TableName,
)
from hmstats.store.catalog import databases, tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Unit

DATABASE = Database(name=DatabaseName("hive", "default"), location="file:/warehouse")
NAME = TableName("hive", "default", "t")
COLUMNS = (Column("id", "bigint"), Column("näme", "varchar(20)", "wie man heißt"))
STORAGE = Storage(columns=COLUMNS, location="file:/warehouse/t", serde=SerDe(library="parquet"))
TABLE = Table(name=NAME, storage=STORAGE, partition_keys=(Column("p", "string"),), table_type="MANAGED_TABLE")

# PostgreSQL keeps every character but NUL; surrogates are no characters.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
OPTIONAL_TEXT = st.none() | TEXT
SECONDS = st.integers(0, 2**40)
PARAMETERS = st.dictionaries(TEXT, TEXT, max_size=4)
COLUMN_LISTS = st.lists(
    st.builds(Column, TEXT, st.sampled_from(["int", "decimal(10,2)", "struct<a:int>"]), OPTIONAL_TEXT),
    max_size=4,
    unique_by=lambda column: column.name,
).map(tuple)
VALUE_LISTS = st.lists(TEXT, max_size=3).map(tuple)
SKEWS = st.builds(
    SkewedInfo,
    st.lists(TEXT, min_size=1, max_size=3).map(tuple),
    st.lists(VALUE_LISTS, max_size=3).map(tuple),
    st.dictionaries(VALUE_LISTS, TEXT, max_size=3),
)
STORAGES = st.builds(
    Storage,
    columns=COLUMN_LISTS,
    location=OPTIONAL_TEXT,
    input_format=OPTIONAL_TEXT,
    output_format=OPTIONAL_TEXT,
    compressed=st.booleans(),
    buckets=st.integers(-1, 1000),
    serde=st.builds(
        SerDe,
        OPTIONAL_TEXT,
        OPTIONAL_TEXT,
        PARAMETERS,
        OPTIONAL_TEXT,
        OPTIONAL_TEXT,
        OPTIONAL_TEXT,
        st.none() | st.integers(1, 2),
    ),
    bucket_columns=st.lists(TEXT, max_size=3).map(tuple),
    sort_columns=st.lists(st.builds(SortColumn, TEXT, st.integers(0, 1)), max_size=3).map(tuple),
    parameters=PARAMETERS,
    skewed=st.none() | SKEWS,
    stored_as_subdirectories=st.booleans(),
)
TABLES = st.builds(
    Table,
    name=st.just(NAME),
    owner=OPTIONAL_TEXT,
    owner_type=st.sampled_from([None, "USER", "ROLE"]),
    created_seconds=SECONDS,
    last_access_seconds=SECONDS,
    retention=SECONDS,
    storage=st.none() | STORAGES,
    partition_keys=COLUMN_LISTS,
    parameters=PARAMETERS,
    view_original_text=OPTIONAL_TEXT,
    view_expanded_text=OPTIONAL_TEXT,
    table_type=OPTIONAL_TEXT,
    rewrite_enabled=st.booleans(),
    write_id=SECONDS,
)
PARTITIONS = st.builds(
    Partition,
    values=st.lists(TEXT, min_size=1, max_size=3).map(tuple),
    created_seconds=SECONDS,
    last_access_seconds=SECONDS,
    storage=st.none() | STORAGES,
    parameters=PARAMETERS,
    write_id=SECONDS,
)


def partition(value: str, *, columns: tuple[Column, ...] = COLUMNS, **parameters: str) -> Partition:
    """A partition of TABLE."""
    storage = Storage(columns=columns, location=f"file:/warehouse/t/p={value}", serde=SerDe(library="parquet"))
    return Partition(values=(value,), storage=storage, parameters=parameters)


def make_table(store: Store, table: Table = TABLE) -> int:
    """The id of a table that was stored, with its database if that is missing."""

    def make(unit: Unit) -> int:
        if databases.find_id(unit.connection, table.name.parent) is None:
            databases.insert_one(unit, Database(name=table.name.parent, location="file:/warehouse"))
        return tables.insert_one(unit, table)

    return store.write(make)


def make_partitions(store: Store, table_id: int, *values: str) -> dict[str, int]:
    """Ids by name of partitions of TABLE that were stored."""
    new = {f"p={value}": partition(value) for value in values}
    store.write(lambda unit: partitions.insert_many(unit, table_id, COLUMNS, new))
    with store.read() as connection:
        return partitions.find_ids(connection, table_id, list(new))
