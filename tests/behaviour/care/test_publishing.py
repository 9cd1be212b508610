"""Publishing statistics that wait: nothing is lost, nothing is published twice, and marks of accuracy stay true."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from tests.behaviour.care.test_pending import automatic, longs, ndv, ndv_of, ours, prefer, put, waiting
from tests.behaviour.care.test_statistics_locks import locked, numbers, partitioned
from tests.behaviour.spark.test_spark_statistics import analyze, column, spark, totals
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.wire.idl import hive_metastore as api

__all__ = ["automatic", "ours", "partitioned"]


def count_anew(metastore: Metastore, rows: str) -> None:
    """Rows are counted by an engine, which tells by an alter."""
    table = metastore.read_table()
    table.parameters = {**table.parameters, "numRows": rows, "totalSize": rows}
    context = api.EnvironmentContext(properties={"STATS_GENERATED": "TASK"})
    metastore.client().alter_table_with_environment_context(metastore.database, "t", table, context)


@pytest.mark.parametrize("jumping", ["hive", "impala"])
def test_statistics_of_all_engines_wait_if_those_of_one_jump(
    partitioned: Metastore, ours: Client, automatic: Client, jumping: str
) -> None:
    def both(numbers_of: dict[str, int]) -> None:
        sets = [replace(longs(each, partition="p=1"), engine=engine) for engine, each in numbers_of.items()]
        put(automatic, partitioned, *sets, rows={"p=1": 9_000})

    both({"hive": 9_000, "impala": 9_000})
    before = numbers(partitioned)
    both({each: 10 if each == jumping else 9_001 for each in ("hive", "impala")})
    assert numbers(partitioned) == before
    found = {each.engine: ndv_of(each.columns[0]) for each in ours.pending.of_table(f"{partitioned.database}.t").sets}
    assert found == {each: 10 if each == jumping else 9_001 for each in ("hive", "impala")}


def test_a_publish_of_what_is_locked_is_refused_and_goes_on_waiting(partitioned: Metastore, ours: Client) -> None:
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(7), longs(8, partition="p=1"), longs(9, partition="p=2"))
    before, all_three = numbers(partitioned), waiting(ours, partitioned)
    lock = locked(partitioned, partition="p=1", columns=("l",))
    ours.locks.lock(lock, reason="plans")
    for names in (None, ["p=1"]):
        with pytest.raises(CallRefused, match=r"column l of partition p=1 of table .*\.t are not written.*plans"):
            ours.pending.publish(f"{partitioned.database}.t", names)
    assert (numbers(partitioned), waiting(ours, partitioned)) == (before, all_three)
    assert ours.pending.publish(f"{partitioned.database}.t", ["p=2"]) == (1, 0)
    ours.locks.unlock(lock)
    assert ours.pending.publish(f"{partitioned.database}.t") == (2, 0)


def test_nothing_is_listed_as_waiting_if_all_of_it_is_locked(partitioned: Metastore, ours: Client) -> None:
    prefer(ours, partitioned, publish="false")
    ours.locks.lock(locked(partitioned, columns=("l",)))
    put(ours, partitioned, longs(7))
    put(ours, partitioned, longs(8, partition="p=1"))
    assert waiting(ours, partitioned) == {}


def test_columns_seen_before_the_rows_changed_get_no_marks(our_metastore: Metastore, ours: Client) -> None:
    """Two writes wait, and the rows were counted anew between them: the first has seen other rows than the second."""
    our_metastore.table()
    put(ours, our_metastore, longs(5), rows={None: 50})
    prefer(ours, our_metastore, publish="false")
    put(ours, our_metastore, longs(7), rows={None: 70})
    count_anew(our_metastore, "90")
    our_metastore.client().update_table_column_statistics(statistics(our_metastore, statistics_of("s", numDVs=9)))
    ours.pending.publish(f"{our_metastore.database}.t")
    assert (ndv(our_metastore), our_metastore.parameters()["numRows"]) == (7, "90")
    assert "l" not in Accurate.parse(our_metastore.parameters().get(PARAMETER)).columns
    put(ours, our_metastore, longs(8), rows={None: 80})
    count_anew(our_metastore, "100")
    put(ours, our_metastore, longs(10), rows={None: 100})  # newer numbers of all that waits: those before count no more
    assert ours.pending.publish(f"{our_metastore.database}.t") == (1, 0)
    assert "l" in Accurate.parse(our_metastore.parameters().get(PARAMETER)).columns


def test_a_table_made_again_gets_nothing_that_waited_of_the_one_before(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    prefer(ours, our_metastore, publish="false")
    put(ours, our_metastore, longs(7), rows={None: 70})
    our_metastore.client().drop_table(our_metastore.database, "t", True)
    with pytest.raises(CallRefused, match="t"):
        ours.pending.publish(f"{our_metastore.database}.t")
    our_metastore.table()
    with pytest.raises(CallRefused, match="wait"):
        ours.pending.publish(f"{our_metastore.database}.t")
    assert of_table(our_metastore, "l") == {}


def test_statistics_of_a_column_of_another_type_are_not_published(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    prefer(ours, our_metastore, publish="false")
    put(ours, our_metastore, longs(7), rows={None: 70})
    table = our_metastore.read_table()
    for each in table.sd.cols:
        each.type = "string" if each.name == "l" else each.type
    our_metastore.client().alter_table(our_metastore.database, "t", table)
    with pytest.raises(CallRefused, match=f"no statistics of table hive.{our_metastore.database}.t wait"):
        ours.pending.publish(f"{our_metastore.database}.t")
    assert of_table(our_metastore, "l") == {}


def test_a_publish_is_undone_as_a_write(partitioned: Metastore, ours: Client) -> None:
    before = numbers(partitioned)
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(7), rows={None: 70})
    put(ours, partitioned, longs(8, partition="p=1"), rows={"p=1": 80})
    ours.pending.publish(f"{partitioned.database}.t")
    assert numbers(partitioned) != before
    history = ours.past.history(f"{partitioned.database}.t").writes
    assert {each.call for each in history if each.at_ms == history[0].at_ms} == {"publish_statistics"}
    ours.past.restore(f"{partitioned.database}.t", history[0].at_ms - 1)
    assert numbers(partitioned) == before
    assert waiting(ours, partitioned) == {}


@contextmanager
def _clients(metastore: Metastore, number: int) -> Iterator[list[Client]]:
    with ExitStack() as opened:
        yield [opened.enter_context(connect(f"thrift://127.0.0.1:{metastore.port}")) for _ in range(number)]


@pytest.mark.slow
def test_of_several_who_publish_and_reject_one_has_it(partitioned: Metastore, ours: Client) -> None:
    """Publishes and a reject at the same time: the same numbers are published at most once, and never half."""
    table = f"{partitioned.database}.t"
    prefer(ours, partitioned, publish="false")
    for number in range(10, 30):
        put(ours, partitioned, longs(number, partition="p=1"), longs(number, partition="p=2"))
        with _clients(partitioned, 4) as clients, ThreadPoolExecutor(4) as pool:
            published = [pool.submit(each.pending.publish, table) for each in clients[:3]]
            rejected = pool.submit(clients[3].pending.reject, table)
            raised = [*(each.exception() for each in published), rejected.exception()]
        failures = [str(each) for each in raised if each is not None]
        assert len(failures) == 3
        assert all("wait" in each for each in failures)
        assert waiting(ours, partitioned) == {}
        found = of_partitions(partitioned, ["p=1", "p=2"], "l")
        stored = {found[each]["l"].longStats.numDVs for each in ("p=1", "p=2") if "l" in found.get(each, {})}
        assert (stored == {number}) == (rejected.exception() is not None)


def test_a_write_of_several_partitions_leaves_what_waits_of_their_other_columns(
    partitioned: Metastore, ours: Client
) -> None:
    prefer(ours, partitioned, publish="false")
    both = (statistics_of("l", numDVs=8), statistics_of("s", numDVs=8))
    for each in ("p=1", "p=2"):
        partitioned.client().update_partition_column_statistics(statistics(partitioned, *both, partition=each))
    prefer(ours, partitioned, publish="true")
    newer = [
        statistics(partitioned, statistics_of("l", numDVs=9), partition="p=1"),
        statistics(partitioned, statistics_of("s", numDVs=9), partition="p=2"),
    ]
    assert partitioned.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=newer))
    listed = {each.partition: each.columns for each in ours.pending.listed(partitioned.database)}
    assert listed == {"p=1": ("s",), "p=2": ("l",)}


def test_numbers_of_sparks_analyze_remove_older_ones_that_wait(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    prefer(ours, our_metastore, publish="false")
    both = (statistics_of("l", numDVs=7), statistics_of("s", numDVs=7))
    our_metastore.client().update_table_column_statistics(statistics(our_metastore, *both))
    of_column = column("l", distinctCount=9, nullCount=0, min=1, max=9)
    analyze(our_metastore, spark(our_metastore), {**totals(9, 90), **of_column})
    assert ndv(our_metastore) == 9
    ours.pending.publish(f"{our_metastore.database}.t")
    assert (ndv(our_metastore), of_table(our_metastore, "s")["s"].stringStats.numDVs) == (9, 7)


@pytest.mark.parametrize("publish", ["true", "false"])
def test_two_sets_of_a_partition_are_merged_whether_they_wait_or_not(
    partitioned: Metastore, ours: Client, publish: str
) -> None:
    prefer(ours, partitioned, publish=publish)
    halves = [
        statistics(partitioned, statistics_of("l", numNulls=each, lowValue=each, highValue=each + 10), partition="p=1")
        for each in (3, 40)
    ]
    assert partitioned.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=halves))
    if publish == "false":
        assert ours.pending.publish(f"{partitioned.database}.t") == (1, 0)
    found = of_partitions(partitioned, ["p=1"], "l")["p=1"]["l"].longStats
    assert (found.numNulls, found.lowValue, found.highValue) == (43, 3, 50)
