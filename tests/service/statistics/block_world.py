"""A table whose partitions' statistics are written, dropped and added, and both ways to aggregate them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from sqlalchemy import func, select
from tests.service.statistics.filled import NAME, TYPES, bit_vector, make_table, of_partition

from hmstats.model.catalog.objects import Column, Partition, Storage
from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading import number_sums, partition_blocks, vector_unions
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.partition_blocks import PartitionBlocks
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_VECTOR_BLOCK
from hmstats.store.statistics import table_facts
from hmstats.store.statistics.aggregates import Scope

COUNT = 40
STORAGE = Storage(columns=tuple(Column(name, kind) for name, kind in TYPES.items()))


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few partitions make several blocks."""
    monkeypatch.setattr(partition_blocks, "FEWEST_VECTORS", 4)
    monkeypatch.setattr(partition_blocks, "FEWEST_NUMBERS", 4)
    monkeypatch.setattr(partition_blocks, "FEWEST_ROWS", 4)
    for module in (vector_unions, number_sums):
        monkeypatch.setattr(module, "MOST_MEMBERS", 8)
        monkeypatch.setattr(module, "KIND", replace(module.KIND, fewest_partitions=4))
    monkeypatch.setattr(vector_unions, "_FEW_OF_A_BLOCK", 1)
    monkeypatch.setattr(partition_blocks, "_MOST_TOUCHED", 5)
    monkeypatch.setattr(partition_blocks, "_RESTS", 0)


class World:
    """A table, its statistics, and both ways to aggregate them."""

    def __init__(self, store: Store, folder: Path, partitions: int = COUNT) -> None:
        self.store = store
        make_table(store, folder, range(partitions))
        self.memory = BoundedMemory(2**20)
        self.blocks = PartitionBlocks(store, self.memory)
        self.by_blocks = StatisticsAggregator(store, blocks=self.blocks)
        self.plainly = StatisticsAggregator(store)
        self.warehouse = Warehouse(str(folder))
        self.changes = PartitionChanges(store, self.warehouse)
        self.there = [*range(partitions)]
        self.next = partitions

    def write(self, numbers: list[int], start: int, size: int, p: int = 8, engine: str = "hive") -> None:
        """Write the statistics of so many longs into partitions that exist."""
        sets = [
            of_partition(each, engine, l=LongStatistics(nulls=1, ndv=size, bit_vector=vector(start + each, size, p)))
            for each in numbers
            if each in self.there
        ]
        StatisticsWriter(self.store).update_partitions(NAME, sets)

    def delete(self, number: int) -> None:
        """Delete a partition's statistics."""
        if number in self.there:
            StatisticsWriter(self.store).delete_partitions(NAME, [f"p={number}"], ["l"], None)

    def drop(self, number: int) -> None:
        """Drop a partition."""
        if number in self.there:
            self.there.remove(number)
            self.changes.drop(NAME, [str(number)], delete_data=True)  # or no other could be renamed to it

    def add(self, number: int) -> None:
        """Add a partition that is not there."""
        if number not in self.there:
            self.there.append(number)
            self.changes.add(NAME, [Partition(values=(str(number),), storage=STORAGE)])

    def change_table(self, number: int) -> None:
        """Write statistics and a parameter of the table itself."""
        StatisticsWriter(self.store).update_table(NAME, of_partition(None, l=LongStatistics(nulls=1, ndv=number)))
        table = Tables(self.store, self.warehouse).get(NAME)
        altered = replace(table, parameters={**table.parameters, "step": str(number)})
        TableAlterations(self.store, self.warehouse).alter(NAME, altered)

    def change_anything(self) -> None:
        """Raise the table's version as a change does that may have touched everything."""
        self.store.write(lambda unit: versions.bump(unit, tables.find_id(unit.connection, NAME) or 0))

    def check(self, numbers: list[int] | None = None, engine: str = "hive") -> None:
        """Both ways give one answer."""
        names = [f"p={each}" for each in (self.there if numbers is None else numbers)]
        for name, aggregate in (("any", self.by_blocks), ("only", only(self.by_blocks))):
            expected = self.plainly if name == "any" else only(self.plainly)
            assert aggregate.partitions(NAME, names, ["l"], engine) == expected.partitions(NAME, names, ["l"], engine)

    def count(self, table: Any = HMSTATS_VECTOR_BLOCK) -> int:
        """The stored blocks, or indexes."""
        with self.store.read() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()

    def uses_blocks(self) -> bool:
        """Whether the union of all comes from blocks."""
        with self.store.read() as connection:
            target = table_facts.find(connection, NAME)
            assert target is not None
            return bool(self.blocks.unions(connection, Scope(target.id, None, ["l"], "hive"), target.version))


def only(aggregator: StatisticsAggregator) -> StatisticsAggregator:
    """An aggregator for which other engines' statistics do not count."""
    return StatisticsAggregator(aggregator._store, any_engine=False, blocks=aggregator._blocks)


def vector(start: int, size: int, p: int) -> bytes:
    """The sketch of so many longs, with a precision that blocks of tests can afford."""
    return bit_vector(1_000 * start, 1_000 * start + size, p)


Made = TypeVar("Made", bound=World)


@contextmanager
def own_world(template: Path, kind: type[Made]) -> Iterator[Made]:
    """A world over a database of its own."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "metastore.sqlite"
        shutil.copy(template, path)
        store = Store.open(f"sqlite:///{path}")
        try:
            yield kind(store, Path(folder), 24)
        finally:
            store.close()
