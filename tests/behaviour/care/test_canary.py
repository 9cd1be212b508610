"""Canaries get what everybody would get if the statistics that wait were published; everybody else gets what is."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.behaviour.care.test_pending import longs, ours, prefer, put
from tests.behaviour.care.test_statistics_locks import partitioned
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.runs.tiers import first_of

from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.wire.idl import hive_metastore as api

__all__ = ["ours", "partitioned"]
CHOICE = "hmstats.canary"


@pytest.fixture
def canary(our_metastore: Metastore) -> Any:
    client = our_metastore.client()
    client.setMetaConf(CHOICE, "true")
    return client


def answers(client: Any, database: str) -> list[str]:
    """All that planners ask for of table t, each question twice: the second answer may be a cached one."""

    def asked() -> Iterator[str]:
        columns, parts = ["l", "s"], ["p=1", "p=2"]
        yield repr(sorted(client.get_table(database, "t").parameters.items()))
        for each in client.get_partitions_by_names(database, "t", parts):
            yield repr(sorted(each.parameters.items()))
        of_table = api.TableStatsRequest(dbName=database, tblName="t", colNames=columns, engine="hive")
        of_parts = api.PartitionsStatsRequest(
            dbName=database, tblName="t", colNames=columns, partNames=parts, engine="hive"
        )
        yield repr(sorted(client.get_table_statistics_req(of_table).tableStats, key=lambda each: each.colName))
        found = client.get_partitions_statistics_req(of_parts).partStats
        yield repr([(part, sorted(map(repr, found[part]))) for part in sorted(found)])
        yield repr(client.get_aggr_stats_for(of_parts))
        yield repr(client.get_table_column_statistics(database, "t", "l").statsObj)
        yield repr(client.get_partition_column_statistics(database, "t", "p=1", "l").statsObj)

    first = _timeless(asked())
    assert _timeless(asked()) == first
    return first


def _timeless(found: Iterator[str]) -> list[str]:
    return [each for each in found if "lastAnalyzed" not in each]


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_of(range(2)))
def test_canaries_see_what_waits_and_nobody_else_does(
    partitioned: Metastore, ours: Client, canary: Any, seed: int
) -> None:
    rng, client, database = random.Random(seed), partitioned.client(), partitioned.database
    assert answers(canary, database) == answers(client, database)
    prefer(ours, partitioned, publish="false")
    before = answers(client, database)
    for _ in range(4):
        number = rng.randrange(10, 1_000)
        part = rng.choice(["p=1", "p=2"])
        put(ours, partitioned, longs(number), rows={None: number})
        put(ours, partitioned, longs(number, partition=part), rows={part: number})
        assert answers(client, database) == before
        assert answers(canary, database) != before
        assert answers(client, database) == before
    seen = answers(canary, database)
    canary.setMetaConf(CHOICE, "false")
    assert answers(canary, database) == before
    canary.setMetaConf(CHOICE, "true")
    assert answers(canary, database) == seen
    ours.pending.publish(f"{database}.t")
    assert _without_time(answers(client, database)) == _without_time(seen)
    assert answers(canary, database) == answers(client, database)


def _without_time(found: list[str]) -> list[str]:
    return [each for each in found if "transient_lastDdlTime" not in each]


def test_a_rejection_ends_what_canaries_see(partitioned: Metastore, ours: Client, canary: Any) -> None:
    before = answers(canary, partitioned.database)
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(77))
    assert answers(canary, partitioned.database) != before
    ours.pending.reject(f"{partitioned.database}.t")
    assert answers(canary, partitioned.database) == before


def test_reads_of_canaries_change_nothing(partitioned: Metastore, ours: Client, canary: Any) -> None:
    """Neither the history, nor the log, nor the next write."""
    prefer(ours, partitioned, publish="false")
    put(ours, partitioned, longs(77), rows={None: 7})
    client, name = partitioned.client(), f"{partitioned.database}.t"
    writes, event = len(ours.past.history(name).writes), client.get_current_notificationEventId().eventId
    seen = answers(canary, partitioned.database)
    assert len(ours.past.history(name).writes) == writes
    assert client.get_current_notificationEventId().eventId == event
    assert [each.partition for each in ours.pending.listed(partitioned.database)] == [None]
    canary.update_table_column_statistics(statistics(partitioned, statistics_of("s", numDVs=3)))
    assert answers(canary, partitioned.database) != seen
    assert (
        canary.get_table_column_statistics(partitioned.database, "t", "s").statsObj[0].statsData.stringStats.numDVs == 3
    )
    assert (
        client.get_table_column_statistics(partitioned.database, "t", "s").statsObj[0].statsData.stringStats.numDVs == 5
    )


def test_what_cannot_be_published_any_more_is_not_shown(our_metastore: Metastore, ours: Client, canary: Any) -> None:
    """A canary goes on as everybody: what waits contradicts the rows that an engine has counted since."""
    client, database = our_metastore.client(), our_metastore.database
    for name in ("t", "other"):
        our_metastore.table(name)
        prefer(ours, our_metastore, name, publish="false")
        client.update_table_column_statistics(statistics(our_metastore, statistics_of("l", numNulls=4_000), table=name))
    table = our_metastore.read_table()
    table.parameters |= {"numRows": "10", "totalSize": "90"}
    said = api.EnvironmentContext(properties={"STATS_GENERATED": "TASK"})
    client.alter_table_with_environment_context(database, "t", table, said)
    with pytest.raises(CallRefused, match="at most the table's 10 rows"):
        ours.pending.publish(f"{database}.t")

    def asked(name: str) -> list[str]:
        wanted = api.TableStatsRequest(dbName=database, tblName=name, colNames=["l"], engine="hive")
        return [each.colName for each in canary.get_table_statistics_req(wanted).tableStats]

    assert canary.get_table(database, "t").parameters["numRows"] == "10"
    assert (asked("t"), asked("other")) == ([], ["l"])
    both = canary.get_table_objects_by_name(database, ["t", "other"])
    marks = {each.tableName: each.parameters.get("COLUMN_STATS_ACCURATE", "") for each in both}
    assert ("l" in marks["t"], "COLUMN_STATS" in marks["other"]) == (False, True)


def test_a_missing_table_is_missing_for_canaries_too(our_metastore: Metastore, canary: Any) -> None:
    with pytest.raises(api.NoSuchObjectException):
        canary.get_table(our_metastore.database, "none")
