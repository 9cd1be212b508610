"""The history of statistics by its calls: whatever is written, the answers of an earlier time come back."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from thriftpy2.utils import serialize

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.catalog.names import table_name
from hmstats.sketch.frequent.top_k import TopK
from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api

COLUMNS = ["b", "d", "dec", "dt", "l", "s"]
PARTITIONS = ["p=1", "p=2"]
_numbers = count(1)


@dataclass
class Scene:
    """A table with two partitions, and clients of Hive's calls and of ours."""

    metastore: Metastore
    hive: Any
    ours: Client
    table: str

    @property
    def name(self) -> str:
        return f"{self.metastore.database}.{self.table}"

    def answers(self) -> list[bytes]:
        """What statistics calls answer about the table and the partitions, as bytes."""
        here = {"dbName": self.metastore.database, "tblName": self.table}
        named = {**here, "colNames": COLUMNS}
        of_partitions = api.PartitionsStatsRequest(**named, partNames=PARTITIONS)
        of_table = self.hive.get_table_statistics_req(api.TableStatsRequest(**named))
        by_partition = self.hive.get_partitions_statistics_req(of_partitions)
        aggregated = self.hive.get_aggr_stats_for(of_partitions)
        for columns in (of_table.tableStats, *by_partition.partStats.values(), aggregated.colStats):
            columns.sort(key=lambda column: column.colName)  # no call promises an order
        asked = [of_table, by_partition, aggregated]
        for places in (None, PARTITIONS):
            request = extension.StatisticsRequest(**here, partNames=places)
            found = self.ours._ask("get_statistics", request)
            for each in found.colStats:
                each.statsObj.sort(key=lambda column: column.colName)
            found.details.sort(key=lambda detail: (detail.partName or "", detail.colName))
            asked += [found, self.ours._ask("get_provenance", request)]
        return [serialize(each) for each in asked]

    def now(self) -> int:
        """A time between the calls before and after."""
        time.sleep(0.004)
        at_ms = int(time.time() * 1000)
        time.sleep(0.004)
        return at_ms


def made(metastore: Metastore, ours: Client) -> Scene:
    name = f"history_{next(_numbers)}"
    metastore.table(name, keys=("p int",))
    metastore.add_partitions(("1",), ("2",), table=name)
    return Scene(metastore, metastore.client(), ours, name)


Write = Callable[[Scene, int], object]


def write_table(scene: Scene, number: int) -> None:
    given = [statistics_of("l", numDVs=number, highValue=number), statistics_of("s", numDVs=number)]
    scene.hive.update_table_column_statistics(statistics(scene.metastore, *given, table=scene.table))


def write_partition(scene: Scene, number: int) -> None:
    given = [statistics_of(each, numNulls=number) for each in COLUMNS]
    scene.hive.update_partition_column_statistics(
        statistics(scene.metastore, *given, partition=PARTITIONS[number % 2], table=scene.table)
    )


def write_all(scene: Scene, number: int) -> None:
    structs = [
        statistics(scene.metastore, statistics_of("d", highValue=number / 3), partition=each, table=scene.table)
        for each in PARTITIONS
    ]
    scene.hive.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=structs, needMerge=number % 2 == 0))


def write_details(scene: Scene, number: int) -> None:
    sketch = TopK()
    sketch.add(["a", str(number)], [3, number + 1], number + 4, 0)
    struct = statistics(scene.metastore, statistics_of("s", numDVs=number), table=scene.table)
    detail = extension.ColumnDetails(colName="s", topK=sketch.to_bytes())
    scene.ours._ask("set_statistics", extension.SetStatisticsRequest(colStats=[struct], details=[detail]))


def delete_table(scene: Scene, number: int) -> None:
    column = "l" if number % 2 else None
    if scene.hive.get_table_statistics_req(
        api.TableStatsRequest(dbName=scene.metastore.database, tblName=scene.table, colNames=COLUMNS)
    ).tableStats:
        request = api.DeleteColumnStatisticsRequest(
            cat_name="hive", db_name=scene.metastore.database, tbl_name=scene.table, tableLevel=True
        )
        request.col_names = [column] if column else None
        scene.hive.delete_column_statistics_req(request)


def alter(scene: Scene, number: int) -> None:
    table = scene.metastore.read_table(scene.table)
    table.parameters["numRows"] = str(number)
    scene.hive.alter_table(scene.metastore.database, scene.table, table)


def make_partition_again(scene: Scene, number: int) -> None:
    value = PARTITIONS[number % 2][-1]
    scene.hive.drop_partition(scene.metastore.database, scene.table, [value], False)
    scene.metastore.add_partitions((value,), table=scene.table)


def make_again(scene: Scene, number: int) -> None:
    scene.hive.drop_table(scene.metastore.database, scene.table, False)
    scene.metastore.table(scene.table, keys=("p int",))
    scene.metastore.add_partitions(("1",), ("2",), table=scene.table)


def rename_and_back(scene: Scene, number: int) -> None:
    for old, new in ((scene.table, f"{scene.table}_x"), (f"{scene.table}_x", scene.table)):
        table = scene.metastore.read_table(old)
        table.tableName = new
        scene.hive.alter_table(scene.metastore.database, old, table)


def exchange_and_back(scene: Scene, number: int) -> None:
    database, other = scene.metastore.database, f"{scene.table}_y"
    if other not in scene.hive.get_all_tables(database):
        scene.metastore.table(other, keys=("p int",))
    for source, target in ((scene.table, other), (other, scene.table)):
        scene.hive.exchange_partition({"p": PARTITIONS[number % 2][-1]}, database, source, database, target)


def truncate(scene: Scene, number: int) -> None:
    scene.hive.truncate_table(scene.metastore.database, scene.table, [PARTITIONS[number % 2]])


WRITES: list[Write] = [
    write_table,
    write_table,
    write_partition,
    write_partition,
    write_all,
    write_details,
    delete_table,
    alter,
    make_partition_again,
    make_again,
    rename_and_back,
    exchange_and_back,
    truncate,
]
STEPS = st.lists(st.tuples(st.sampled_from(WRITES), st.integers(1, 9)), max_size=5)


@pytest.fixture
def ours(our_metastore: Metastore) -> Any:
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as found:
        yield found


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=STEPS, between=STEPS, after=STEPS)
def test_the_answers_of_any_earlier_time_come_back(
    our_metastore: Metastore,
    ours: Client,
    before: Sequence[tuple[Write, int]],
    between: Sequence[tuple[Write, int]],
    after: Sequence[tuple[Write, int]],
) -> None:
    scene = made(our_metastore, ours)
    seen = []
    for steps in (before, between, after):
        for write, number in steps:
            write(scene, number)
        seen.append((scene.now(), scene.answers()))
    for at_ms, answers in (*seen[::-1], *seen):
        ours.past.restore(scene.name, at_ms)
        assert scene.answers() == answers


def test_a_restore_is_in_the_history_with_who_and_how(our_metastore: Metastore, ours: Client) -> None:
    scene = made(our_metastore, ours)
    scene.hive.set_ugi("ada", [])
    write_table(scene, 1)
    at_ms = scene.now()
    write_table(scene, 2)
    counted = ours.past.restore(scene.name, at_ms, dry_run=True)
    assert (counted.written, counted.removed) == (2, 0)
    assert ours.past.restore(scene.name, at_ms) == counted
    writes = ours.past.history(scene.name, "l").writes
    assert [each.call for each in writes] == ["restore_statistics", *["update_table_column_statistics"] * 2]
    assert [each.writer for each in writes[1:]] == ["ada", "ada"]
    (own,) = ours.past.past(scene.name, at_ms).sets
    assert {column.column: column.data.ndv for column in own.columns} == {"l": 1, "s": 1}  # type: ignore[union-attr]


def test_what_does_not_exist_is_refused(our_metastore: Metastore, ours: Client) -> None:
    missing = table_name(our_metastore.database, "missing")
    for ask in (ours.past.history, lambda name: ours.past.past(name, None), lambda name: ours.past.restore(name, 1)):
        with pytest.raises(CallRefused):
            ask(missing)
