"""Statistics that wait: no planner gets them before they are published, whatever happens to their table."""

import random
from collections.abc import Callable

import pytest
from tests.behaviour.care.test_statistics_locks import locked, numbers, partitioned
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.runs.tiers import first_of

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.preferences.preference import EVERYTHING, Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.idl import hive_metastore as api

__all__ = ["partitioned"]


@pytest.fixture
def ours(our_metastore: Metastore) -> Client:
    made = connect(f"thrift://127.0.0.1:{our_metastore.port}")
    our_metastore.clients.callback(made.close)
    return made


@pytest.fixture
def automatic(our_metastore: Metastore) -> Client:
    """A client whose writes the guard looks at."""
    made = connect(f"thrift://127.0.0.1:{our_metastore.port}", automatic=True)
    our_metastore.clients.callback(made.close)
    return made


def prefer(ours: Client, metastore: Metastore, table: str | None = "t", **put: str) -> None:
    ours.preferences.change(Subject(DatabaseName("hive", metastore.database), table), put)


def longs(ndv: int, low: int = 0, high: int = 1_000_000, partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(low=low, high=high, nulls=0, ndv=ndv)
    return StatisticsSet((ColumnStatistics("l", "bigint", data),), partition)


def put(client: Client, metastore: Metastore, *sets: StatisticsSet, rows: dict[str | None, int] | None = None) -> None:
    if rows is None:
        own = [each for each in sets if each.partition is None]
        for each in own:
            client.put_table_statistics(f"{metastore.database}.t", each)
        client.put_partition_statistics(f"{metastore.database}.t", [each for each in sets if each not in own])
        return
    counts: dict[str | None, dict[str, str | None]] = {
        place: {"numRows": str(count), "totalSize": str(count)} for place, count in rows.items()
    }
    client.put_together(f"{metastore.database}.t", sets, counts)


def ndv_of(column: ColumnStatistics) -> int | None:
    assert isinstance(column.data, LongStatistics)
    return column.data.ndv


def waiting(ours: Client, metastore: Metastore) -> dict[str | None, str]:
    return {each.partition: each.reason.text for each in ours.pending.listed(metastore.database)}


def ndv(metastore: Metastore, table: str = "t") -> int | None:
    found = of_table(metastore, "l", table=table)
    return found["l"].longStats.numDVs if found else None


def test_new_numbers_wait_until_they_are_published(partitioned: Metastore, ours: Client) -> None:
    before = numbers(partitioned)
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(7), rows={None: 70})
    put(ours, partitioned, longs(8, partition="p=1"), rows={"p=1": 80})
    partitioned.client().update_table_column_statistics(statistics(partitioned, statistics_of("s", numDVs=9)))
    assert numbers(partitioned) == before
    assert waiting(ours, partitioned) == dict.fromkeys([None, "p=1"], "the preference publish is false")
    listed = {each.partition: each.columns for each in ours.pending.listed(partitioned.database)}
    assert listed == {None: ("l", "s"), "p=1": ("l",)}
    found = ours.pending.of_table(f"{partitioned.database}.t")
    assert {each.partition: ndv_of(each.columns[0]) for each in found.sets} == {None: 7, "p=1": 8}
    assert found.changes[None].put["numRows"] == "70"
    assert ours.pending.publish(f"{partitioned.database}.t", ["p=1"]) == (1, 0)
    assert of_partitions(partitioned, ["p=1"], "l")["p=1"]["l"].longStats.numDVs == 8
    assert ndv(partitioned) == 5
    assert ours.pending.publish(f"{partitioned.database}.t") == (1, 0)
    assert (ndv(partitioned), partitioned.parameters()["numRows"]) == (7, "70")
    assert of_table(partitioned, "s")["s"].stringStats.numDVs == 9
    assert Accurate.parse(partitioned.parameters()[PARAMETER]).columns >= {"l", "s"}
    assert waiting(ours, partitioned) == {}
    history = ours.past.history(f"{partitioned.database}.t")
    assert history.writes[0].call == "publish_statistics"
    ours.past.restore(f"{partitioned.database}.t", history.writes[0].at_ms - 1)
    with pytest.raises(CallRefused, match=r"no statistics of table .* wait"):
        ours.pending.publish(f"{partitioned.database}.t")


def test_rejected_numbers_are_gone(partitioned: Metastore, ours: Client) -> None:
    before = numbers(partitioned)
    prefer(ours, partitioned, None, publish="false")
    put(ours, partitioned, longs(7), rows={None: 70})
    put(ours, partitioned, longs(8, partition="p=1"), longs(9, partition="p=2"))
    assert ours.pending.reject(f"{partitioned.database}.t", ["p=2"]) == 1
    assert ours.pending.reject(f"{partitioned.database}.t") == 2
    assert numbers(partitioned) == before
    for names in (None, ["p=1"]):
        with pytest.raises(CallRefused, match="wait"):
            ours.pending.reject(f"{partitioned.database}.t", names)


@pytest.mark.parametrize(
    ("new", "rows", "sentence"),
    [
        (longs(100), 0, "rows fall from 50,000 to 0"),
        (longs(100), 4_000, "rows change from 50,000 to 4,000, by more than 10 times"),
        (longs(100), 600_000, "rows change from 50,000 to 600,000"),
        (longs(9_999), 50_000, "distinct values of l change from 100 to 9,999, by more than 10 times"),
        (longs(100, high=90_000), 50_000, "bounds of l shrink from 0 .. 1000000 to 0 .. 90000"),
        (longs(100, low=2_000_000, high=3_000_000), 50_000, "where none was before"),
        (longs(900), 50_000, None),  # a small count changes no plan
        (longs(100, high=200_000), 20_000, None),
        (longs(100, low=-9, high=9_000_000), 400_000, None),
    ],
)
def test_the_guard_holds_what_jumps(
    our_metastore: Metastore, ours: Client, automatic: Client, new: StatisticsSet, rows: int, sentence: str | None
) -> None:
    our_metastore.table()
    put(automatic, our_metastore, longs(100), rows={None: 50_000})
    assert (ndv(our_metastore), waiting(ours, our_metastore)) == (100, {})
    put(automatic, our_metastore, new, rows={None: rows})
    data = new.columns[0].data
    assert isinstance(data, LongStatistics)
    if sentence is None:
        assert waiting(ours, our_metastore) == {}
        assert (ndv(our_metastore), our_metastore.parameters()["numRows"]) == (data.ndv, str(rows))
        return
    assert sentence in waiting(ours, our_metastore)[None]
    assert (ndv(our_metastore), our_metastore.parameters()["numRows"]) == (100, "50000")
    put(ours, our_metastore, new, rows={None: rows})  # somebody says so: it counts, and what waits is older
    assert waiting(ours, our_metastore) == {}
    assert (ndv(our_metastore), our_metastore.parameters()["numRows"]) == (data.ndv, str(rows))


def test_whose_numbers_the_guard_looks_at(our_metastore: Metastore, ours: Client, automatic: Client) -> None:
    our_metastore.table()
    put(ours, our_metastore, longs(100), rows={None: 50_000})
    prefer(ours, our_metastore, guard="off")
    put(automatic, our_metastore, longs(9_000))
    assert ndv(our_metastore) == 9_000
    ours.preferences.change(EVERYTHING, {"guard": "all"})
    try:
        put(ours, our_metastore, longs(100_000))
        assert ndv(our_metastore) == 100_000  # the table says otherwise
        ours.preferences.change(Subject(DatabaseName("hive", our_metastore.database), "t"), {}, ["guard"])
        our_metastore.client().update_table_column_statistics(
            statistics(our_metastore, statistics_of("l", numDVs=1_000))
        )
        assert (ndv(our_metastore), "from 100,000 to 1,000" in waiting(ours, our_metastore)[None]) == (100_000, True)
        prefer(ours, our_metastore, guard_factor="1000")
        put(ours, our_metastore, longs(1_000))
        assert ndv(our_metastore) == 1_000
        subject = Subject(DatabaseName("hive", our_metastore.database), "t", column="l")
        ours.preferences.change(subject, {"guard_factor": "2"})
        put(ours, our_metastore, longs(3_000))
        assert ndv(our_metastore) == 1_000
    finally:
        ours.preferences.change(EVERYTHING, {}, ["guard"])


def test_only_the_partitions_that_jump_wait(partitioned: Metastore, ours: Client, automatic: Client) -> None:
    put(ours, partitioned, longs(100, partition="p=1"), longs(100, partition="p=2"), rows={"p=1": 9_000, "p=2": 9_000})
    put(automatic, partitioned, longs(101, partition="p=1"), longs(102, partition="p=2"), rows={"p=1": 0, "p=2": 9_001})
    assert waiting(ours, partitioned) == {"p=1": "rows fall from 9,000 to 0"}
    found = of_partitions(partitioned, ["p=1", "p=2"], "l")
    assert [found[each]["l"].longStats.numDVs for each in ("p=1", "p=2")] == [100, 102]
    rows = {
        each.values[0]: each.parameters["numRows"]
        for each in partitioned.client().get_partitions_by_names(partitioned.database, "t", ["p=1", "p=2"])
    }
    assert rows == {"1": "9000", "2": "9001"}


def test_what_waits_goes_with_its_table(partitioned: Metastore, ours: Client) -> None:
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(7))
    put(ours, partitioned, longs(8, partition="p=1"), longs(9, partition="p=2"))
    client, table = partitioned.client(), partitioned.read_table()
    table.tableName = "renamed"
    client.alter_table(partitioned.database, "t", table)
    part = client.get_partition(partitioned.database, "renamed", ["1"])
    part.values = ["3"]
    client.rename_partition(partitioned.database, "renamed", ["1"], part)
    listed = [(each.table.table, each.partition) for each in ours.pending.listed(partitioned.database)]
    assert listed == [("renamed", None), ("renamed", "p=2"), ("renamed", "p=3")]
    client.drop_partition(partitioned.database, "renamed", ["2"], True)
    assert ours.pending.publish(f"{partitioned.database}.renamed", ["p=3"]) == (1, 0)
    (found,) = ours.partition_statistics(f"{partitioned.database}.renamed", ["l"], ["p=3"])
    assert [ndv_of(each) for each in found.columns] == [8]
    assert [each.partition for each in ours.pending.listed(partitioned.database)] == [None]
    client.truncate_table(partitioned.database, "renamed", None)
    assert ours.pending.listed(partitioned.database) == []
    client.drop_table(partitioned.database, "renamed", True)
    assert ours.pending.listed(partitioned.database) == []


def test_columns_that_are_gone_are_not_published(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    prefer(ours, our_metastore, publish="false")
    client = our_metastore.client()
    client.update_table_column_statistics(
        statistics(our_metastore, statistics_of("l", numDVs=3), statistics_of("s", numDVs=4))
    )
    table = our_metastore.read_table()
    table.sd.cols = [each for each in table.sd.cols if each.name != "l"]
    client.alter_table_with_cascade(our_metastore.database, "t", table, True)
    assert ours.pending.publish(f"{our_metastore.database}.t")[0] == 1
    assert of_table(our_metastore, "s")["s"].stringStats.numDVs == 4


@pytest.mark.parametrize("again", ["l", "L"])
def test_a_column_that_is_dropped_and_made_again_gets_nothing_of_the_old_one(
    partitioned: Metastore, ours: Client, again: str
) -> None:
    prefer(ours, partitioned, publish="false")
    client, name = partitioned.client(), f"{partitioned.database}.t"
    client.update_table_column_statistics(
        statistics(partitioned, statistics_of("l", numDVs=3), statistics_of("s", numDVs=4))
    )
    client.update_partition_column_statistics(statistics(partitioned, statistics_of("l", numDVs=3), partition="p=1"))
    before = numbers(partitioned)
    table = partitioned.read_table()
    columns, table.sd.cols = table.sd.cols, [each for each in table.sd.cols if each.name != "l"]
    client.alter_table_with_cascade(partitioned.database, "t", table, True)
    table.sd.cols = [*table.sd.cols, *(each for each in columns if each.name == "l")]
    table.sd.cols[-1].name = again
    client.alter_table_with_cascade(partitioned.database, "t", table, True)
    assert [(each.partition, each.columns) for each in ours.pending.listed(partitioned.database)] == [(None, ("s",))]
    assert ours.pending.publish(name)[0] == 1
    assert "l" not in of_table(partitioned, "l", "s")
    assert numbers(partitioned) != before


def test_counts_that_are_newer_stay(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    put(ours, our_metastore, longs(5), rows={None: 50})
    prefer(ours, our_metastore, publish="false")
    put(ours, our_metastore, longs(7), rows={None: 70})
    table = our_metastore.read_table()
    table.parameters = {**table.parameters, "numRows": "90", "totalSize": "90"}
    context = api.EnvironmentContext(properties={"STATS_GENERATED": "TASK"})
    our_metastore.client().alter_table_with_environment_context(our_metastore.database, "t", table, context)
    assert ours.pending.publish(f"{our_metastore.database}.t") == (1, 1)
    assert (ndv(our_metastore), our_metastore.parameters()["numRows"]) == (7, "90")
    assert "l" not in Accurate.parse(our_metastore.parameters().get(PARAMETER)).columns


def test_locks_hold_for_what_waits(partitioned: Metastore, ours: Client) -> None:
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(7))
    ours.locks.lock(locked(partitioned))
    put(ours, partitioned, longs(8, partition="p=1"))  # dropped, and so it does not wait
    assert list(waiting(ours, partitioned)) == [None]
    before = numbers(partitioned)
    with pytest.raises(
        CallRefused, match="lock"
    ):  # a writer's numbers are dropped, but not those that somebody asks for
        ours.pending.publish(f"{partitioned.database}.t")
    assert (numbers(partitioned), list(waiting(ours, partitioned))) == (before, [None])
    ours.locks.unlock(locked(partitioned))
    put(ours, partitioned, longs(9))
    ours.locks.lock(locked(partitioned), refuse=True, reason="plans")
    with pytest.raises(CallRefused, match="plans"):
        ours.pending.publish(f"{partitioned.database}.t")
    assert list(waiting(ours, partitioned)) == [None]


def test_merges_go_on_from_what_waits(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    put(ours, our_metastore, longs(5, 0, 10))
    prefer(ours, our_metastore, publish="false")
    client = our_metastore.client()
    for high in (20, 30):
        new = statistics(our_metastore, statistics_of("l", lowValue=1, highValue=high, numDVs=3, numNulls=1))
        client.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=[new], needMerge=True))
    assert of_table(our_metastore, "l")["l"].longStats.highValue == 10
    ours.pending.publish(f"{our_metastore.database}.t")
    found = of_table(our_metastore, "l")["l"].longStats
    assert (found.lowValue, found.highValue, found.numNulls) == (0, 30, 2)


def test_new_rows_that_do_not_wait_are_added_to_what_waits(partitioned: Metastore, ours: Client) -> None:
    places, client = ("p=1", None), partitioned.client()

    def insert(high: int) -> None:
        for place in places:
            new = statistics(partitioned, statistics_of("l", highValue=high, numNulls=1), partition=place)
            client.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=[new], needMerge=True))

    def stored() -> list[tuple[int, int]]:
        found = [of_partitions(partitioned, ["p=1"], "l")["p=1"]["l"], of_table(partitioned, "l")["l"]]
        return [(each.longStats.highValue, each.longStats.numNulls) for each in found]

    put(ours, partitioned, longs(5, 0, 10), longs(5, 0, 10, partition="p=1"))
    prefer(ours, partitioned, publish="false")
    insert(30)
    prefer(ours, partitioned, publish="true")
    insert(20)
    assert stored() == [(20, 1)] * 2
    assert waiting(ours, partitioned).keys() == set(places)
    ours.pending.publish(f"{partitioned.database}.t")
    assert stored() == [(30, 2)] * 2


def test_wrong_numbers_are_refused_at_once(partitioned: Metastore, ours: Client) -> None:
    prefer(ours, partitioned, publish="false")
    with pytest.raises(CallRefused, match="l"):
        put(ours, partitioned, longs(-5))
    with pytest.raises(CallRefused, match="p=9"):
        put(ours, partitioned, longs(5, partition="p=9"))
    assert waiting(ours, partitioned) == {}


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_pending_numbers_never_leak(partitioned: Metastore, ours: Client, seed: int) -> None:
    """Whatever is written in any way: planners get the same numbers until a publish."""
    rng = random.Random(seed)
    prefer(ours, partitioned, rng.choice(["t", None]), publish="false")
    before = numbers(partitioned)
    client = partitioned.client()
    writes: list[Callable[[int], object]] = [
        lambda n: put(ours, partitioned, longs(n), rows={None: n}),
        lambda n: put(ours, partitioned, longs(n, partition=f"p={n % 2 + 1}"), rows={f"p={n % 2 + 1}": n}),
        lambda n: put(ours, partitioned, rows={None: n}),
        lambda n: client.update_table_column_statistics(statistics(partitioned, statistics_of("l", numDVs=n))),
        lambda n: client.update_partition_column_statistics(
            statistics(partitioned, statistics_of("s", numDVs=n), partition="p=1")
        ),
        lambda n: client.set_aggr_stats_for(
            api.SetPartitionsStatsRequest(
                colStats=[
                    statistics(partitioned, statistics_of("b", numTrues=n), partition=each) for each in ("p=1", "p=2")
                ]
            )
        ),
        lambda n: client.set_aggr_stats_for(
            api.SetPartitionsStatsRequest(
                colStats=[statistics(partitioned, statistics_of("l", numDVs=n))], needMerge=True
            )
        ),
        lambda n: ours.put_partition_statistics(f"{partitioned.database}.t", [longs(n, partition="p=2")]),
    ]
    for _ in range(12):
        rng.choice(writes)(rng.randrange(1, 10**6))
        assert numbers(partitioned) == before
    if waiting(ours, partitioned):
        ours.pending.publish(f"{partitioned.database}.t")
        assert numbers(partitioned) != before


def test_a_preference_of_another_server_counts_at_the_next_write(our_metastore: Metastore, ours: Client) -> None:
    """Also for writers that know the table, and write without reading it."""
    our_metastore.table()
    client, known = our_metastore.client(), 7
    for number in range(1, known + 1):
        client.update_table_column_statistics(statistics(our_metastore, statistics_of("l", numDVs=number)))
    for subject in (Subject(DatabaseName("hive", our_metastore.database)), EVERYTHING):
        ours.preferences.change(subject, {"publish": "false"})
        try:
            client.update_table_column_statistics(statistics(our_metastore, statistics_of("l", numDVs=99)))
            assert ndv(our_metastore) == known
        finally:
            ours.preferences.change(subject, {}, ["publish"])
        client.update_table_column_statistics(statistics(our_metastore, statistics_of("l", numDVs=known)))
        assert (ndv(our_metastore), waiting(ours, our_metastore)) == (known, {})
