"""Random changes through two servers over one database: both then answer as a third does, which keeps nothing.

Tables and partitions are dropped and made again, renamed in circles and exchanged between writes of statistics, which
come in runs, so that the last ones go the fastest way. Each question is asked twice, so that answers are kept.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from thriftpy2.thrift import TPayload

from hmstats.wire.idl import hive_metastore as api

STEPS = 120
TABLES = ("a", "b")
VALUES = ("1", "2", "3")
NAMES = [f"k={each}" for each in VALUES]
COLUMNS = {"l": "bigint", "s": "string"}
REFUSALS = (
    api.AlreadyExistsException,
    api.InvalidInputException,
    api.InvalidObjectException,
    api.InvalidOperationException,
    api.MetaException,
    api.NoSuchObjectException,
)
Call = Callable[[Any], object]


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Two servers that keep answers, and one that keeps none, over one database with the tables."""
    keeping: Mapping[str, object] = {"workers": 1, "exclusive": False}
    nothing = {"answers_bytes": 0, "objects_bytes": 0}
    with ExitStack() as stack:
        found = []
        for number, settings in enumerate((keeping, keeping, {**keeping, **nothing})):
            folder = tmp_path / f"server-{number}"
            folder.mkdir()
            started = serving(folder, database=database_url, warehouse=str(tmp_path / "warehouse"), settings=settings)
            found.append(Metastore(f"hmstats-{number}", stack.enter_context(started), 4.0, "changes"))
            stack.enter_context(found[-1].clients)
        found[0].client().create_database(api.Database(name="changes", description="", parameters={}))
        for table in TABLES:
            found[0].table(table, COLUMNS, ["k"])
            found[0].add_partitions(*([each] for each in VALUES), table=table, columns=COLUMNS)
        yield found


class Changes:
    """Makes random changes of the tables."""

    def __init__(self, metastore: Metastore, chosen: random.Random) -> None:
        self._metastore = metastore
        self._chosen = chosen

    def next(self) -> list[Call]:
        """A change, or a run of writes of the same statistics' rows."""
        table, name = self._chosen.choice(TABLES), self._chosen.choice(NAMES)
        kinds = (self._drop_table, self._rename, self._alter, self._delete, self._go, self._come, self._move)
        if self._chosen.random() < 0.5:
            place = self._chosen.choice([None, name])
            columns = self._chosen.sample([*COLUMNS], self._chosen.randint(1, 2))
            return [self._write(table, place, columns) for _ in range(self._chosen.randint(1, 4))]
        return [self._chosen.choice(kinds)(table, name)]

    def _write(self, table: str, name: str | None, columns: list[str]) -> Call:
        objects = [statistics_of(each, numDVs=self._chosen.randrange(1_000)) for each in columns]
        sent = statistics(self._metastore, *objects, partition=name, table=table)
        if name is None:
            return lambda client: client.update_table_column_statistics(sent)
        return lambda client: client.update_partition_column_statistics(sent)

    def _drop_table(self, table: str, _name: str) -> Call:
        made = api.Table(
            tableName=table,
            dbName="changes",
            owner="tester",
            sd=self._metastore.storage(COLUMNS),
            partitionKeys=[api.FieldSchema(name="k", type="string", comment="")],
            parameters={},
            tableType="MANAGED_TABLE",
        )
        parts = [self._metastore.partition(each, table=table, columns=COLUMNS) for each in VALUES]

        def make_again(client: Any) -> None:
            client.drop_table("changes", table, True)
            client.create_table(made)
            client.add_partitions(parts)

        return make_again

    def _rename(self, table: str, _name: str) -> Call:
        other = next(each for each in TABLES if each != table)

        def swap(client: Any) -> None:
            for old, new in ((table, "between"), (other, table), ("between", other)):
                renamed = client.get_table("changes", old)
                renamed.tableName = new
                client.alter_table("changes", old, renamed)

        return swap

    def _alter(self, table: str, name: str) -> Call:
        rows, of_table = str(self._chosen.randrange(10, 2_000)), self._chosen.random() < 0.5

        def alter(client: Any) -> None:
            found = (
                client.get_table("changes", table) if of_table else client.get_partition_by_name("changes", table, name)
            )
            found.parameters["numRows"] = rows
            if of_table:
                client.alter_table("changes", table, found)
            else:
                client.alter_partition("changes", table, found)

        return alter

    def _delete(self, table: str, name: str) -> Call:
        column = self._chosen.choice([None, *COLUMNS])
        if self._chosen.random() < 0.5:
            return lambda client: client.delete_table_column_statistics("changes", table, column, None)
        return lambda client: client.delete_partition_column_statistics("changes", table, name, column, None)

    def _go(self, table: str, name: str) -> Call:
        return lambda client: client.drop_partition_by_name("changes", table, name, True)

    def _come(self, table: str, name: str) -> Call:
        made = self._metastore.partition(name[2:], table=table, columns=COLUMNS)
        return lambda client: client.add_partition(made)

    def _move(self, table: str, name: str) -> Call:
        other = next(each for each in TABLES if each != table)
        return lambda client: client.exchange_partitions({"k": name[2:]}, "changes", table, "changes", other)


class Question(NamedTuple):
    """A call that reads, and its arguments."""

    method: str
    arguments: tuple[Any, ...]

    def ask(self, client: Any) -> object:
        """The answer, or the error in its place."""
        try:
            return plain(getattr(client, self.method)(*self.arguments))
        except REFUSALS as error:
            return type(error).__name__, error.message


def questions() -> list[Question]:
    """Calls that tell statistics of the tables, and what they are of."""
    found: list[Question] = []
    for table in TABLES:
        for columns in (["l"], ["l", "s"]):
            of_table = api.TableStatsRequest(dbName="changes", tblName=table, colNames=columns)
            found.append(Question("get_table_statistics_req", (of_table,)))
            for names in (NAMES, NAMES[:1], NAMES[:0:-1]):
                wanted = api.PartitionsStatsRequest(
                    dbName="changes", tblName=table, colNames=columns, partNames=names, engine="hive"
                )
                found.append(Question("get_partitions_statistics_req", (wanted,)))
                found.append(Question("get_aggr_stats_for", (wanted,)))
        whole = api.GetTableRequest(dbName="changes", tblName=table, getColumnStats=True, engine="hive")
        named = api.GetPartitionsByNamesRequest(
            db_name="changes", tbl_name=table, names=NAMES, get_col_stats=True, engine="hive"
        )
        found.append(Question("get_table_req", (whole,)))
        found.append(Question("get_partitions_by_names_req", (named,)))
        found.append(Question("get_partition_names", ("changes", table, -1)))
        found.append(Question("get_partition_column_statistics", ("changes", table, NAMES[0], "l")))
    return found


def plain(value: Any) -> Any:
    """An answer as it can be compared: columns may come in any order."""
    if isinstance(value, TPayload):
        return {name: plain(each) for name, each in vars(value).items()}
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        found = [plain(each) for each in value]
        return sorted(found, key=str) if value and isinstance(value[0], api.ColumnStatisticsObj) else found
    return value


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_servers_that_keep_answers_answer_as_one_that_keeps_none(servers: list[Metastore], seed: int) -> None:
    chosen, every = random.Random(seed), questions()
    changes, refused = Changes(servers[0], chosen), list[str]()
    *keeping, keeping_nothing = [each.client() for each in servers]
    for _ in range(STEPS):
        client = chosen.choice(keeping)
        for change in changes.next():
            try:
                change(client)
            except REFUSALS as error:
                refused.append(error.message)
        for question in chosen.sample(every, 6):
            expected = question.ask(keeping_nothing)
            assert [question.ask(each) for each in keeping * 2] == [expected] * 4, question
    assert [each for each in refused if "constraint" in each or "unexpected" in each] == []
