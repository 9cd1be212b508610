"""Column statistics through the rules into the database and back, in a number of statements that does not grow."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.databases.statements import StatementCounter
from tests.wire.strategies import DATA

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.flat_statistics import flat
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics, table_facts

NAME = TableName("hive", "default", "t")
COLUMNS = tuple(Column(f"c{number}", kind) for number, kind in enumerate(DATA))
PARTITION_COUNT = 100
_ANALYZED = {"hive": 10, "impala": 20, "trino": 30}
"""When each engine's statistics were made, so that one of the others is the newest."""


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """A store with a table that has a column of every kind and a hundred partitions."""
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    storage = Storage(columns=COLUMNS)
    keys = (Column("p", "int"),)
    Tables(store, warehouse).create(Table(name=NAME, storage=storage, partition_keys=keys, table_type="EXTERNAL_TABLE"))
    new = [Partition(values=(str(number),), storage=storage) for number in range(PARTITION_COUNT)]
    PartitionChanges(store, warehouse).add(NAME, new)
    return store


def sets(partitions: Sequence[int], ndv: int = 3) -> list[StatisticsSet]:
    column = ColumnStatistics("c1", COLUMNS[1].type, LongStatistics(low=1, high=2, nulls=0, ndv=ndv))
    return [StatisticsSet((column,) if COLUMNS[1].type == "bigint" else (), f"p={each}") for each in partitions]


def test_the_number_of_statements_does_not_grow(filled: Store, statements: StatementCounter) -> None:
    writer, reader = StatisticsWriter(filled), StatisticsReader(filled)
    writer.update_partitions(NAME, sets([0]))  # takes ids
    counts = []
    for wanted in ([1], range(2, PARTITION_COUNT)):
        with statements() as writing:
            writer.update_partitions(NAME, sets(list(wanted)))
        names = [f"p={each}" for each in wanted]
        with statements() as reading:
            found = reader.flat_partitions(NAME, names, ["c1"], "hive", repaired=True, valid=None)
        assert sorted(found) == sorted(names)
        with statements() as deleting:
            writer.delete_partitions(NAME, names, ["c1"], None)
        counts.append((len(writing), len(reading), len(deleting)))
    assert counts[0] == counts[1]


def test_one_bad_partition_writes_none(filled: Store) -> None:
    writer, reader = StatisticsWriter(filled), StatisticsReader(filled)
    with pytest.raises(NoSuchObject, match=r"p=1000 of table hive\.default\.t"):
        writer.update_partitions(NAME, sets([1, 1000]))
    bad = replace(sets([2])[0], columns=(ColumnStatistics("c1", "bigint", LongStatistics(ndv=-7)),))
    with pytest.raises(InvalidInput, match="ndv of column c1"):
        writer.update_partitions(NAME, [*sets([1]), bad])
    assert reader.partitions(NAME, ["p=1", "p=2"], None, "hive") == []


def test_the_same_write_twice_is_one(filled: Store) -> None:
    writer, reader = StatisticsWriter(filled), StatisticsReader(filled)
    for _ in range(2):
        writer.update_partitions(NAME, sets([1]))
    (found,) = reader.partitions(NAME, ["p=1"], None, "hive")
    assert found.columns == sets([1])[0].columns


@given(data=st.data())
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tuples_say_what_the_model_says(filled: Store, data: st.DataObject) -> None:
    """Of every kind and by several engines, for a table and for partitions, by every way of reading."""
    names = [column.name for column in COLUMNS]
    reader = StatisticsReader(filled)
    with filled.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        ids = partitions.find_ids(connection, target.id, ["p=1", "p=2"])
    for engine in data.draw(st.lists(st.sampled_from(sorted(_ANALYZED)), unique=True, min_size=1)):
        chosen = data.draw(st.lists(st.sampled_from(range(len(COLUMNS))), unique=True, min_size=1))
        columns = tuple(
            ColumnStatistics(names[each], COLUMNS[each].type, data.draw(DATA[COLUMNS[each].type])) for each in chosen
        )
        own = StatisticsSet(columns, None, engine, _ANALYZED[engine])
        of_partitions = {ids[each]: replace(own, partition=each) for each in ids}
        filled.write(partial(column_statistics.write_table, table_id=target.id, name=NAME, statistics=own))
        filled.write(partial(column_statistics.write_partitions, name=NAME, statistics=of_partitions))
    wanted = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    engine = data.draw(st.sampled_from(["hive", "impala", "presto"]))
    of_table = reader.table(NAME, wanted, engine)
    expected = {each.column: flat(each) for each in of_table.columns} if of_table else {}
    found = reader.flat_table(NAME, wanted, engine, repaired=False, valid=None)
    assert {each[0]: each for each in found} == expected
    sets_found = reader.partitions(NAME, ["p=1", "p=2"], wanted, engine)
    parts = reader.flat_partitions(NAME, ["p=1", "p=2"], wanted, engine, repaired=False, valid=None)
    assert {key: {column[0]: column for column in each} for key, each in parts.items()} == {
        each.partition: {column.column: flat(column) for column in each.columns} for each in sets_found
    }
