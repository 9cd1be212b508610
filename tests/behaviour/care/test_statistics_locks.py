"""Locks on statistics: no write of any call changes what is locked, whatever else it does."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.runs.tiers import first_of
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.statistics_keys import is_of_statistics
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import EXTENDED_SERVICE, extension
from hmstats.wire.idl import hive_metastore as api

COLUMNS = ("b", "l", "s")
PARTITIONS = ["p=1", "p=2"]
_FREE = frozenset({"transient_lastDdlTime", PARAMETER})


@pytest.fixture
def ours(our_metastore: Metastore) -> Client:
    made = connect(f"thrift://127.0.0.1:{our_metastore.port}")
    our_metastore.clients.callback(made.close)
    return made


@pytest.fixture
def partitioned(our_metastore: Metastore) -> Metastore:
    """Table t with two partitions, and statistics of all of them."""
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",), ("2",))
    _write_all(our_metastore, 5)
    return our_metastore


def locked(metastore: Metastore, table: str | None = "t", **more: Any) -> LockedObject:
    return LockedObject(DatabaseName("hive", metastore.database), table, **more)


def _write_all(metastore: Metastore, number: int) -> None:
    columns = [
        statistics_of("b", numTrues=number),
        statistics_of("l", numDVs=number),
        statistics_of("s", numDVs=number),
    ]
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, *columns))
    for each in PARTITIONS:
        client.update_partition_column_statistics(statistics(metastore, *columns, partition=each))


def numbers(metastore: Metastore, table: str = "t") -> dict[tuple[str | None, str], Any]:
    """All that is stored for planners: statistics by place and column, and the parameters that hold statistics."""
    client, found = metastore.client(), dict[tuple[str | None, str], Any]()
    found |= {
        (None, column): repr(each) for column, each in of_table(metastore, *COLUMNS, table=table, engine="hive").items()
    }
    for place, columns in of_partitions(metastore, PARTITIONS, *COLUMNS, engine="hive").items():
        found |= {(place, column): repr(each) for column, each in columns.items()}
    found[None, ""] = _counts(metastore.parameters(table))
    for each in client.get_partitions_by_names(metastore.database, table, PARTITIONS):
        found[f"p={each.values[0]}", ""] = _counts(each.parameters)
    return found


def _counts(parameters: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in parameters.items() if is_of_statistics(key) and key not in _FREE}


def marks(metastore: Metastore) -> dict[str | None, Accurate]:
    found = metastore.client().get_partitions_by_names(metastore.database, "t", PARTITIONS)
    of = {f"p={each.values[0]}": each.parameters for each in found} | {None: metastore.parameters()}
    return {place: Accurate.parse(each.get(PARAMETER)) for place, each in of.items()}


def covers(of: LockedObject, place: str | None, column: str) -> bool:
    if of.partition is not None and of.partition != place:
        return False
    return not of.columns or column in of.columns


# Each changes statistics at random by a call of its own.

Write = Callable[[Metastore, random.Random], None]


def _objects(chance: random.Random) -> list[Any]:
    number = chance.randint(10, 99)
    every = {
        "b": statistics_of("b", numTrues=number),
        "l": statistics_of("l", numDVs=number),
        "s": statistics_of("s", numDVs=number),
    }
    return [every[each] for each in chance.sample(COLUMNS, chance.randint(1, 3))]


def _update_table(metastore: Metastore, chance: random.Random) -> None:
    metastore.client().update_table_column_statistics(statistics(metastore, *_objects(chance)))


def _update_partition(metastore: Metastore, chance: random.Random) -> None:
    given = statistics(metastore, *_objects(chance), partition=chance.choice(PARTITIONS))
    metastore.client().update_partition_column_statistics(given)


def _update_requests(metastore: Metastore, chance: random.Random) -> None:
    partition = chance.choice(PARTITIONS)
    for place, call in ((None, "table"), (partition, "partition")):
        given = statistics(metastore, *_objects(chance), partition=place)
        request = api.SetPartitionsStatsRequest(colStats=[given], engine="hive")
        getattr(metastore.client(), f"update_{call}_column_statistics_req")(request)


def _set_aggregates(metastore: Metastore, chance: random.Random) -> None:
    merge = chance.random() < 0.5
    sets = [statistics(metastore, *_objects(chance), partition=each) for each in PARTITIONS]
    if chance.random() < 0.4:
        sets = [statistics(metastore, *_objects(chance))]
    metastore.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=sets, needMerge=merge, engine="hive"))


def _set_statistics(metastore: Metastore, chance: random.Random) -> None:
    place = chance.choice([None, *PARTITIONS])
    put = {"numRows": str(chance.randint(10, 99)), PARAMETER: Accurate(basic=True, columns=frozenset(COLUMNS)).text()}
    change = extension.ParameterChange(partName=place, put=put, remove=["numFiles"])
    changes = extension.ParameterChanges(dbName=metastore.database, tblName="t", changes=[change])
    sets = [statistics(metastore, *_objects(chance), partition=place)] if chance.random() < 0.7 else []
    request = extension.SetStatisticsRequest(colStats=sets, engine="hive", parameters=changes)
    transport = TCyBufferedTransport(TSocket("127.0.0.1", metastore.port, socket_timeout=60_000))
    transport.open()
    metastore.clients.callback(transport.close)
    TClient(EXTENDED_SERVICE, TCyBinaryProtocol(transport)).set_statistics(request)


def _delete(metastore: Metastore, chance: random.Random) -> None:
    client, column = metastore.client(), chance.choice([None, *COLUMNS])
    way = chance.randrange(3)
    if way == 0:
        client.delete_table_column_statistics(metastore.database, "t", column, "hive")
    elif way == 1:
        client.delete_partition_column_statistics(metastore.database, "t", chance.choice(PARTITIONS), column, "hive")
    else:
        names = None if column is None else [column]
        client.delete_column_statistics_req(
            api.DeleteColumnStatisticsRequest(
                db_name=metastore.database, tbl_name="t", col_names=names, tableLevel=chance.random() < 0.5
            )
        )


def _parameters(chance: random.Random) -> dict[str, str]:
    rows = str(chance.randint(100, 999))
    return {
        "numRows": rows,
        "totalSize": rows,
        "numFiles": "3",
        "rawDataSize": rows,
        PARAMETER: Accurate(basic=True, columns=frozenset(COLUMNS)).text(),
    }


def _spark(chance: random.Random) -> dict[str, str]:
    size, ndv = str(chance.randint(1, 99)), str(chance.randint(1, 99))
    of_column = {"distinctCount": ndv, "nullCount": "0", "min": "1", "max": ndv, "version": "2"}
    return {
        "spark.sql.statistics.totalSize": size,
        "spark.sql.statistics.numRows": size,
        **{f"spark.sql.statistics.colStats.l.{key}": value for key, value in of_column.items()},
    }


def _alter_table(metastore: Metastore, chance: random.Random) -> None:
    table = metastore.read_table()
    changed = _spark(chance) if chance.random() < 0.5 else _parameters(chance)
    table.parameters = {**table.parameters, **changed, "by": "an engine"}
    said = chance.choice([{}, {"DO_NOT_UPDATE_STATS": "true"}, {"STATS_GENERATED": "TASK"}])
    context = api.EnvironmentContext(properties=said)
    metastore.client().alter_table_with_environment_context(metastore.database, "t", table, context)
    assert metastore.parameters()["by"] == "an engine"


def _alter_partitions(metastore: Metastore, chance: random.Random) -> None:
    found = metastore.client().get_partitions_by_names(metastore.database, "t", PARTITIONS)
    for each in found:
        each.parameters = {**each.parameters, **_parameters(chance)}
    said = chance.choice([{}, {"DO_NOT_UPDATE_STATS": "true"}, {"STATS_GENERATED": "TASK"}])
    context = api.EnvironmentContext(properties=said)
    metastore.client().alter_partitions_with_environment_context(metastore.database, "t", found, context)


def _truncate(metastore: Metastore, chance: random.Random) -> None:
    names = chance.choice([None, PARTITIONS[:1]])
    metastore.client().truncate_table_req(
        api.TruncateTableRequest(dbName=metastore.database, tableName="t", partNames=names)
    )


WRITES: list[Write] = [
    _update_table,
    _update_partition,
    _update_requests,
    _set_aggregates,
    _set_statistics,
    _delete,
    _alter_table,
    _alter_partitions,
    _truncate,
]


LOCKS: list[dict[str, Any]] = [
    {},
    {"table": None},
    {"partition": "p=1"},
    {"columns": ("l",)},
    {"partition": "p=2", "columns": ("b", "s")},
]


@pytest.mark.parametrize("number", first_of(range(len(LOCKS))))
def test_no_write_changes_what_is_locked(partitioned: Metastore, ours: Client, number: int) -> None:
    chance = random.Random(number)
    _alter_table(partitioned, chance)
    _alter_partitions(partitioned, chance)
    of = locked(partitioned, **LOCKS[number])
    before, marked = numbers(partitioned), marks(partitioned)
    ours.locks.lock(of)
    for write in [*WRITES, *chance.choices(WRITES, k=6)]:
        with suppress(api.InvalidInputException):  # more values than a truncation leaves rows
            write(partitioned, chance)
        now = numbers(partitioned)
        kept = {place: value for place, value in before.items() if covers(of, *place)}
        assert {place: now.get(place) for place in kept} == kept, write.__name__
        for place, found in marks(partitioned).items():
            held = {column for column in COLUMNS if covers(of, place, column)}
            assert found.columns & held <= marked[place].columns, write.__name__
            marked[place] = Accurate(found.basic, found.columns)
    assert ours.locks.unlock(of) == max(1, len(of.columns))
    assert ours.locks.listed(partitioned.database) == []
    for each in PARTITIONS:
        partitioned.client().delete_partition_column_statistics(partitioned.database, "t", each, None, "hive")
    assert of_partitions(partitioned, PARTITIONS, *COLUMNS) == {}


def test_a_lock_that_refuses_names_itself(partitioned: Metastore, ours: Client) -> None:
    ours.locks.lock(locked(partitioned), refuse=True, reason="month end")
    given = statistics(partitioned, statistics_of("l", numDVs=6), partition="p=1")
    sentence = (
        f"statistics of column l of partition p=1 of table {partitioned.database}.t are not written: the lock of table "
        f"{partitioned.database}.t refuses it .month end.; hmstats unlock removes a lock"
    )
    before = numbers(partitioned)
    with pytest.raises(api.MetaException, match=sentence):
        partitioned.client().update_partition_column_statistics(given)
    with pytest.raises(api.MetaException, match="the lock of table"):
        partitioned.client().delete_table_column_statistics(partitioned.database, "t", "l", "hive")
    _alter_table(partitioned, random.Random(1))  # an engine that has written data
    assert numbers(partitioned) == before


def test_dropped_writes_are_counted_and_shown(partitioned: Metastore, ours: Client) -> None:
    partitioned.client().set_ugi("ada", [])
    ours.locks.lock(locked(partitioned, columns=("s", "l")), reason="plans")
    _update_table(partitioned, random.Random(1))
    partitioned.client().update_table_column_statistics(statistics(partitioned, statistics_of("l", numDVs=6)))
    found = ours.locks.listed(partitioned.database, "t")
    assert {column: each.dropped for each in found for column in each.object.columns}["l"] >= 1
    assert {(each.refuse, each.reason) for each in found} == {(False, "plans")}
    assert ours.locks.listed(partitioned.database, "other") == []


def test_new_partitions_and_tables_of_what_is_locked_are_locked(partitioned: Metastore, ours: Client) -> None:
    ours.locks.lock(locked(partitioned, None))
    new = partitioned.partition("3")
    new.parameters = {"numRows": "3", PARAMETER: '{"BASIC_STATS":"true"}'}
    client = partitioned.client()
    client.add_partition(new)
    assert _counts(client.get_partition(partitioned.database, "t", ["3"]).parameters) == {}
    client.update_partition_column_statistics(statistics(partitioned, statistics_of("l"), partition="p=3"))
    assert of_partitions(partitioned, ["p=3"], "l") == {}
    partitioned.table("u", parameters={"numRows": "3"})
    client.update_table_column_statistics(statistics(partitioned, statistics_of("l"), table="u"))
    assert of_table(partitioned, "l", table="u") == {}
    assert "numRows" not in partitioned.parameters("u")


@pytest.mark.parametrize("refuse", [False, True])
def test_new_objects_of_what_is_locked_come_without_the_statistics_that_they_bring(
    partitioned: Metastore, ours: Client, refuse: bool
) -> None:
    ours.locks.lock(locked(partitioned, None), refuse=refuse)
    client, new, before = partitioned.client(), partitioned.partition("3"), numbers(partitioned)
    new.colStats = statistics(partitioned, statistics_of("l"), partition="p=3")
    client.add_partition(new)
    assert of_partitions(partitioned, ["p=3"], "l") == {}
    again = partitioned.partition("1")
    again.colStats = statistics(partitioned, statistics_of("l", numDVs=9), partition="p=1")
    client.add_partitions_req(
        api.AddPartitionsRequest(dbName=partitioned.database, tblName="t", parts=[again], ifNotExists=True)
    )
    assert numbers(partitioned) == before
    table = partitioned.read_table()
    table.tableName, table.sd.location, table.partitionKeys = "u", None, []
    table.colStats = statistics(partitioned, statistics_of("l"), table="u")
    client.create_table(table)
    assert of_table(partitioned, "l", table="u") == {}
    assert {each.dropped for each in ours.locks.listed(partitioned.database)} == {3}


def test_a_rename_carries_a_lock_and_a_drop_removes_it(partitioned: Metastore, ours: Client) -> None:
    ours.locks.lock(locked(partitioned))
    ours.locks.lock(locked(partitioned, partition="p=1", columns=("l",)))
    table = partitioned.read_table()
    table.tableName = "renamed"
    client = partitioned.client()
    client.alter_table(partitioned.database, "t", table)
    found = ours.locks.listed(partitioned.database)
    assert {(each.object.table, each.object.partition) for each in found} == {("renamed", None), ("renamed", "p=1")}
    client.drop_partition(partitioned.database, "renamed", ["1"], True)
    assert [each.object.partition for each in ours.locks.listed(partitioned.database)] == [None]
    client.drop_table(partitioned.database, "renamed", True)
    assert ours.locks.listed(partitioned.database) == []
    partitioned.table("renamed")
    client.update_table_column_statistics(statistics(partitioned, statistics_of("l"), table="renamed"))
    assert list(of_table(partitioned, "l", table="renamed")) == ["l"]


def test_what_is_no_object_cannot_be_locked(partitioned: Metastore, ours: Client) -> None:
    for of, sentence in (
        (locked(partitioned, "none"), "NoSuchObjectException"),
        (locked(partitioned, columns=("none",)), "has no column none"),
        (locked(partitioned, partition="p=9"), "has no partition p=9"),
        (LockedObject(DatabaseName("hive", "none")), "NoSuchObjectException"),
        (LockedObject(DatabaseName("hive", partitioned.database), None, "p=1"), "must name its table"),
    ):
        with pytest.raises(CallRefused, match=sentence):
            ours.locks.lock(of)


def test_a_client_that_may_writes_past_a_lock(partitioned: Metastore, ours: Client) -> None:
    ours.locks.lock(locked(partitioned), refuse=True)
    with connect(f"thrift://127.0.0.1:{partitioned.port}", past_locks=True) as forced:
        new = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=3, nulls=0, ndv=3))
        forced.put_together(f"{partitioned.database}.t", [StatisticsSet((new,))], {None: {"numRows": "4711"}})
    assert "numDVs=3" in str(of_table(partitioned, "l"))
    assert partitioned.parameters()["numRows"] == "4711"


def test_an_alter_of_a_locked_column_takes_its_statistics(our_metastore: Metastore, ours: Client) -> None:
    our_metastore.table()
    client = our_metastore.client()
    table = our_metastore.read_table()
    table.parameters |= _spark(random.Random(1))
    client.alter_table(our_metastore.database, "t", table)
    client.update_table_column_statistics(statistics(our_metastore, statistics_of("s")))
    ours.locks.lock(locked(our_metastore))
    table = our_metastore.read_table()
    for each in table.sd.cols:
        each.type = "string" if each.name == "l" else each.type
    before = our_metastore.parameters()
    client.alter_table(our_metastore.database, "t", table)
    after = our_metastore.parameters()
    assert [key for key in after if key.startswith("spark.sql.statistics.colStats.l.")] == []
    assert after["spark.sql.statistics.totalSize"] == before["spark.sql.statistics.totalSize"]
    assert list(of_table(our_metastore, *COLUMNS)) == ["s"]
