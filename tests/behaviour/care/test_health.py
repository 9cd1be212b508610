"""Health of statistics as clients see it: right after each write, page by page, through renames and drops."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.health.health import Health, Reason
from hmstats.wire.idl import hive_metastore as api

AS_GIVEN = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
COLUMNS = {"b": "boolean", "l": "bigint", "s": "string"}
ALL = [statistics_of(each) for each in COLUMNS]


@pytest.fixture
def ours(our_metastore: Metastore) -> Client:
    made = connect(f"thrift://127.0.0.1:{our_metastore.port}")
    our_metastore.clients.callback(made.close)
    return made


def sized(metastore: Metastore, rows: int, table: str = "t", *, accurate: bool = True) -> None:
    """Say that a table has so many rows, as a job does that has counted them."""
    struct = metastore.read_table(table)
    struct.parameters = _with_rows(struct.parameters, rows, accurate=accurate)
    metastore.client().alter_table_with_environment_context(metastore.database, table, struct, AS_GIVEN)


def size_partition(metastore: Metastore, name: str, rows: int) -> None:
    struct = metastore.client().get_partition_by_name(metastore.database, "t", name)
    struct.parameters = _with_rows(struct.parameters, rows, accurate=True)
    metastore.client().alter_partitions_with_environment_context(metastore.database, "t", [struct], AS_GIVEN)


def _with_rows(parameters: Mapping[str, str], rows: int, *, accurate: bool) -> dict[str, str]:
    counts = {"numRows": str(rows), "numFiles": str(1 + rows // 100), "totalSize": str(rows * 10)}
    found = {**parameters, **counts}
    if not accurate:
        found.pop("COLUMN_STATS_ACCURATE", None)
    elif "COLUMN_STATS_ACCURATE" not in found:
        found["COLUMN_STATS_ACCURATE"] = '{"BASIC_STATS":"true"}'
    return found


def analyse(metastore: Metastore, table: str = "t", columns: list[Any] = ALL, partition: str | None = None) -> None:
    client = metastore.client()
    struct = statistics(metastore, *columns, table=table, partition=partition)
    if partition is None:
        client.update_table_column_statistics(struct)
    else:
        client.update_partition_column_statistics(struct)


def health(ours: Client, metastore: Metastore, table: str = "t") -> Health:
    (found,) = ours.health.tables(metastore.database, table)
    assert found.table.table == table
    return found.health


def of_partitions(ours: Client, metastore: Metastore, **wanted: Any) -> dict[str | None, int]:
    found = ours.health.partitions(f"{metastore.database}.t", **wanted)
    return {each.partition: each.health.health for each in found}


def test_a_table_that_is_analysed_right_after_it_was_made_is_fresh(ours: Client, our_metastore: Metastore) -> None:
    """Times of changes have seconds; versions tell what came last, even if the clock of who made the table is ahead.

    Merged statistics are not marked as accurate.
    """
    for name, seconds in (("t", 0), ("ahead", 600)):
        our_metastore.table(name, columns=COLUMNS)
        struct = our_metastore.read_table(name)
        struct.parameters = {**struct.parameters, "transient_lastDdlTime": str(int(time.time()) + seconds)}
        our_metastore.client().alter_table_with_environment_context(our_metastore.database, name, struct, AS_GIVEN)
        merged = api.SetPartitionsStatsRequest(colStats=[statistics(our_metastore, *ALL, table=name)], needMerge=True)
        our_metastore.client().set_aggr_stats_for(merged)
        found = health(ours, our_metastore, name)
        assert (found.health, found.reason, found.marked) == (100, Reason.FRESH, False)
    struct.parameters = {**struct.parameters, "transient_lastDdlTime": str(int(time.time()) + 601)}
    our_metastore.client().alter_table_with_environment_context(our_metastore.database, name, struct, AS_GIVEN)
    assert health(ours, our_metastore, name).reason is Reason.UNMARKED


def test_health_follows_the_writes_of_a_table(ours: Client, our_metastore: Metastore) -> None:
    our_metastore.table(columns=COLUMNS)
    sized(our_metastore, 0)
    assert health(ours, our_metastore).reason is Reason.EMPTY
    sized(our_metastore, 1_000)
    assert (health(ours, our_metastore).health, health(ours, our_metastore).reason) == (0, Reason.MISSING)
    analyse(our_metastore)
    assert (health(ours, our_metastore).health, health(ours, our_metastore).reason) == (100, Reason.FRESH)
    sized(our_metastore, 1_200)
    changed = health(ours, our_metastore)
    assert (changed.health, changed.reason, changed.then.rows, changed.now.rows) == (80, Reason.CHANGED, 1_000, 1_200)


def test_some_columns_are_not_all(ours: Client, our_metastore: Metastore) -> None:
    our_metastore.table(columns=COLUMNS)
    sized(our_metastore, 1_000)
    analyse(our_metastore, columns=ALL[:2])
    assert (health(ours, our_metastore).health, health(ours, our_metastore).reason) == (66, Reason.INCOMPLETE)


def test_a_withdrawn_mark_halves_health(ours: Client, our_metastore: Metastore) -> None:
    our_metastore.table(columns=COLUMNS)
    sized(our_metastore, 1_000)
    analyse(our_metastore)
    health(ours, our_metastore)
    sized(our_metastore, 1_000, accurate=False)
    assert (health(ours, our_metastore).health, health(ours, our_metastore).reason) == (50, Reason.UNMARKED)


def test_partitions_have_their_own_health(ours: Client, our_metastore: Metastore) -> None:
    our_metastore.table(columns=COLUMNS, keys=("p",))
    assert health(ours, our_metastore).reason is Reason.EMPTY
    our_metastore.add_partitions(("1",), ("2",), ("3",), columns=COLUMNS)
    for name, rows in (("p=1", 1_000), ("p=2", 3_000), ("p=3", 0)):
        size_partition(our_metastore, name, rows)
    assert of_partitions(ours, our_metastore) == {"p=1": 0, "p=2": 0, "p=3": 100}
    analyse(our_metastore, partition="p=2")
    whole = health(ours, our_metastore)
    assert (whole.health, whole.reason, whole.partitions, whole.stale_partitions) == (75, Reason.MISSING, 3, 1)
    size_partition(our_metastore, "p=2", 3_300)
    assert of_partitions(ours, our_metastore) == {"p=1": 0, "p=2": 90, "p=3": 100}
    assert of_partitions(ours, our_metastore, below=90) == {"p=1": 0}
    our_metastore.client().drop_partition(our_metastore.database, "t", ["1"], False)
    assert of_partitions(ours, our_metastore) == {"p=2": 90, "p=3": 100}
    assert health(ours, our_metastore).partitions == 2


def test_a_list_is_read_page_by_page_from_the_worst(ours: Client, our_metastore: Metastore) -> None:
    names = [f"t{number:02}" for number in range(12)]
    for number, name in enumerate(names):
        our_metastore.table(name, columns=COLUMNS)
        sized(our_metastore, 1_000, name)
        if number % 3:
            analyse(our_metastore, name)
            sized(our_metastore, 1_000 + number * 10, name)
    pages, after = [], None
    while True:
        page = ours.health.page(our_metastore.database, after=after, most=5)
        assert page.complete
        pages.append([each.table.table for each in page.entries])
        after = page.next_page
        if after is None:
            break
    order = [each for page in pages for each in page]
    changed = [each for number, each in enumerate(names) if number % 3]
    assert (sorted(order[:4]), order[4:]) == (names[::3], [*reversed(changed)])
    assert [len(page) for page in pages[:2]] == [5, 5]
    some = [each.table.table for each in ours.health.tables(our_metastore.database, "t0*", below=95)]
    assert some == [each for each in order if each.startswith("t0") and each not in {"t01", "t02", "t04", "t05"}]


def test_a_rename_keeps_health_and_a_drop_ends_it(ours: Client, our_metastore: Metastore) -> None:
    our_metastore.table(columns=COLUMNS)
    sized(our_metastore, 1_000)
    analyse(our_metastore)
    sized(our_metastore, 1_100)
    assert health(ours, our_metastore).health == 90
    struct = our_metastore.read_table()
    struct.tableName = "u"
    our_metastore.client().alter_table_with_environment_context(our_metastore.database, "t", struct, AS_GIVEN)
    assert not list(ours.health.tables(our_metastore.database, "t"))
    assert health(ours, our_metastore, "u").health == 90
    our_metastore.client().drop_table(our_metastore.database, "u", False)
    assert not list(ours.health.tables(our_metastore.database))
    our_metastore.table("u", columns=COLUMNS)
    assert health(ours, our_metastore, "u").analyzed == 0


def test_questions_that_cannot_be_answered_say_why(ours: Client, our_metastore: Metastore) -> None:
    with pytest.raises(CallRefused, match="nextPage"):
        ours.health.page(after="7; drop")
    with pytest.raises(CallRefused, match="1 to 1,000"):
        ours.health.page(most=0)
    with pytest.raises(CallRefused, match=r"does not exist : hive\..*\.nothing"):
        ours.health.partitions_page(f"{our_metastore.database}.nothing")
