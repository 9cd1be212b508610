"""A table that others rename between the look at it and the look at its statistics, of which there are none then."""

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
from tests.gateway.doors import bounds, long

from hmstats.errors import NoSuchObject
from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.generation import Generation
from hmstats.model.catalog.objects import Column, DatabaseName, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.mirrors.mirrored_tables import UpstreamTable
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store

T, W = TableName("hive", "d", "t"), TableName("hive", "d", "w")
STATISTICS = StatisticsSet((long(1, 3, values=("1", "2", "2")),))


class RenamingUpstream:
    """A Hive 4 with one table, which is renamed when its statistics are asked for, if `renames`."""

    generation = Generation(4)

    def __init__(self) -> None:
        self.name = T
        self.renames = False
        self.as_gateway = self

    def table(self, name: TableName) -> UpstreamTable:
        if name != self.name:
            raise NoSuchObject(f"{name} table not found")
        storage = Storage(columns=(Column("a", "bigint"),), location="file:///d/t")
        return UpstreamTable(Table(name=name, storage=storage, created_seconds=7), 5)

    def databases(self, _: str) -> list[str]:
        return [T.database]

    def has_database(self, _: DatabaseName) -> bool:
        """Say no, as a Hive does whose own database fails."""
        return False

    def table_names(self, _: DatabaseName) -> list[str]:
        return [self.name.table]

    def tables(self, name: DatabaseName, tables: Sequence[str]) -> list[UpstreamTable]:
        return [self.table(TableName(name.catalog, name.database, each)) for each in tables]

    def table_statistics(self, name: TableName, _columns: Sequence[str], _engine: str) -> dict[str, StatisticsSet]:
        if self.renames:
            self.name = W
        return {"": STATISTICS} if name == self.name else {}


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    with closing(open_store(sqlite_url, pool_size=1, statement_seconds=10)) as opened:
        yield opened


def test_a_table_that_is_renamed_between_two_looks_keeps_its_statistics(store: Store) -> None:
    upstream, mirroring = RenamingUpstream(), Mirroring(store)
    scope = StatisticsScope(T, own=True, columns=("a",))
    assert mirroring.sync(upstream, scope)  # type: ignore[arg-type]
    upstream.renames = True
    assert not mirroring.sync(upstream, scope)  # type: ignore[arg-type]
    assert mirroring.tables.names() == [W]
    found = mirroring.tables.statistics(W, None, ["a"], "hive")
    assert bounds(found[""].columns) == [(1, 3)]


def test_a_database_that_is_said_to_be_missing_and_is_listed_keeps_its_mirrors(store: Store) -> None:
    upstream, mirroring = RenamingUpstream(), Mirroring(store)
    assert mirroring.sync(upstream, StatisticsScope(T, own=True, columns=("a",)))  # type: ignore[arg-type]
    with pytest.raises(NoSuchObject):
        mirroring.keep_database(upstream, T.parent)  # type: ignore[arg-type]
    assert mirroring.tables.names() == [T]
