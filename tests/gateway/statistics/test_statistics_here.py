"""Statistics of an upstream's tables, kept by a gateway to an hmstats and to real Hives, with clients at both doors."""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.commands import run_here
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, SECONDS, Doors, bounds, long, of_all, of_partition, until

from hmstats.client import Metastore as Client
from hmstats.client import connect
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.column_statistics import (
    StatisticsSet,
)
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import hive_metastore as api

STEPS = int(os.environ.get("HMSTATS_TEST_DOORS", "25"))
"""How many steps clients take at both doors."""


def test_old_statistics_are_taken_over_at_the_first_question(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.there.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == doors.there.table_statistics(
        doors.name(), ["a", "d", "s"]
    )
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]


def test_what_is_written_here_is_read_here_at_once_and_there_soon(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(20)))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(20, 29)]
    until([(20, 29)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    assert len(doors.there.table_statistics(doors.name(), ["a", "d", "s"])) == 3
    time.sleep(3 * SECONDS)
    assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == of_all(20)


@pytest.mark.parametrize("columns", [["a"], None], ids=["a column's", "all"])
def test_what_is_written_there_again_after_a_delete_here_is_read(doors: Doors, columns: list[str] | None) -> None:
    """As by an analysis of unchanged data, which says what was said before."""
    doors.direct.table(columns=COLUMNS)
    doors.there.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]
    doors.ours.delete_statistics(doors.name(), columns)
    doors.there.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]
    doors.direct.table("p", COLUMNS, keys=("k",))
    doors.direct.add_partitions(("1",), ("2",), table="p", columns=COLUMNS)
    for each in ("k=1", "k=2"):
        doors.there.put_partition_statistics(doors.name("p"), [of_partition(each, 1)])
    assert partitions_with(doors) == ["k=1", "k=2"]
    doors.ours.delete_statistics(doors.name("p"), columns, ["k=1"])
    assert partitions_with(doors) == ["k=2"]
    doors.there.put_partition_statistics(doors.name("p"), [of_partition("k=1", 1)])
    assert partitions_with(doors) == ["k=1", "k=2"]


def partitions_with(doors: Doors) -> list[str | None]:
    """The partitions of table p that have statistics at the gateway."""
    return [each.partition for each in doors.ours.partition_statistics(doors.name("p"), ["a"], ["k=1", "k=2"])]


def test_statistics_of_more_columns_than_a_hive_takes_at_once_go_there(doors: Doors) -> None:
    """A Hive 4 over Derby refuses 499 in one call. Writes of fewer that wait to be sent may be as many together."""
    names = [f"c{number}" for number in range(600)]
    doors.here.table(columns=dict.fromkeys(names, "bigint"))
    given = tuple(replace(long(1, 9), column=each) for each in names)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(given))
    until(600, lambda: len(doors.there.table_statistics(doors.name(), names)))
    assert len(doors.ours.table_statistics(doors.name(), names)) == 600


@pytest.mark.slow
def test_a_sketch_outlives_the_way_to_the_upstream_and_answers_questions(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 3, 3, values=("1", "2", "2", "3")),)))
    until([(1, 3)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    time.sleep(3 * SECONDS)
    found = doors.ours.top_k(doors.name(), "a", 5)
    assert [each.value for each in found.values][:1] == [2]


def test_the_newer_of_both_doors_wins(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    ours, there = doors.ours, doors.there
    ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 2, values=("1",)),)))
    until([(1, 2)], lambda: bounds(there.table_statistics(doors.name(), ["a"])))
    there.put_table_statistics(doors.name(), StatisticsSet((long(3, 4),)))
    assert bounds(ours.table_statistics(doors.name(), ["a"])) == [(3, 4)]
    with pytest.raises(CallRefused, match="Missing"):
        ours.top_k(doors.name(), "a", 5)
    ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
    assert bounds(ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
    until([(5, 6)], lambda: bounds(there.table_statistics(doors.name(), ["a"])))
    time.sleep(3 * SECONDS)
    assert bounds(ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]


def drop(door: Metastore) -> None:
    """Drop the table; again if statistics came in the middle of a Hive's drop, which then fails by a foreign key."""

    def dropped() -> bool:
        try:
            door.client().drop_table(door.database, "t", True)
        except api.MetaException as error:
            if "violation of foreign key" not in str(error):
                raise
            return False
        return True

    until(True, dropped)


def test_a_table_that_is_made_anew_has_nothing_of_the_old_one(doors: Doors) -> None:
    for door in (doors.here, doors.direct):
        doors.here.table(columns=COLUMNS)
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        assert len(doors.ours.table_statistics(doors.name(), ["a", "d", "s"])) == 3
        if door is doors.direct and doors.direct.generation < 4:
            time.sleep(1.1)  # its tables have no ids, and within a second the time of creation is the same
        drop(door)
        door.table(columns=COLUMNS)
        assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == ()
        drop(door)


def test_a_dropped_database_takes_its_statistics_along(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    client = doors.here.client()
    client.drop_database(doors.direct.database, True, True)
    client.create_database(api.Database(name=doors.direct.database, description="", parameters={}))
    doors.here.table(columns=COLUMNS)
    assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == ()


def test_a_renamed_table_keeps_its_sketches(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 3, values=("1", "2", "2")),)))
    until([(1, 3)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    table = doors.here.read_table()
    table.tableName = "u"
    doors.here.client().alter_table_with_environment_context(doors.direct.database, "t", table, None)
    kept = bounds(doors.there.table_statistics(doors.name("u"), ["a"]))
    assert bounds(doors.ours.table_statistics(doors.name("u"), ["a"])) == kept
    if kept:
        assert [each.value for each in doors.ours.top_k(doors.name("u"), "a", 1).values] == [2]


def test_statistics_that_are_deleted_at_either_door_are_gone_here(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    for metastore in (doors.here, doors.direct):
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        until(3, lambda: len(doors.there.table_statistics(doors.name(), ["a", "d", "s"])))
        assert metastore.client().delete_table_column_statistics(doors.direct.database, "t", "a", "hive")
        assert [each.column for each in doors.ours.table_statistics(doors.name(), ["a", "d", "s"])] == ["d", "s"]
        assert [each.column for each in doors.there.table_statistics(doors.name(), ["a", "d", "s"])] == ["d", "s"]


def test_a_truncated_table_has_no_statistics_here(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 has no such call")
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    until(3, lambda: len(doors.there.table_statistics(doors.name(), ["a", "d", "s"])))
    doors.here.client().truncate_table(doors.direct.database, "t", None)
    assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == ()
    time.sleep(3 * SECONDS)
    assert doors.ours.table_statistics(doors.name(), ["a", "d", "s"]) == ()


def test_a_truncation_of_no_partitions_leaves_all_statistics(doors: Doors) -> None:
    """A Hive truncates nothing then."""
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 has no such call")
    doors.direct.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 3, 3, values=("1", "2", "2", "3")),)))
    until([(1, 3)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    doors.here.client().truncate_table(doors.direct.database, "t", [])
    assert "COLUMN_STATS" in doors.direct.parameters()["COLUMN_STATS_ACCURATE"]
    assert [each.value for each in doors.ours.top_k(doors.name(), "a", 1).values] == [2]


@pytest.mark.parametrize("door", ["here", "there"])
def test_what_is_written_again_after_a_truncation_is_read(doors: Doors, door: str) -> None:
    """As by a load and an analysis that say the same as those before."""
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 has no such call")
    doors.direct.table(columns=COLUMNS)
    doors.there.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]
    doors.here.client().truncate_table(doors.direct.database, "t", None)
    for _ in range(2):
        assert doors.ours.table_statistics(doors.name(), ["a"]) == ()
    writer = doors.there if door == "there" else doors.ours
    writer.put_table_statistics(doors.name(), StatisticsSet((long(1, 10),)))
    for _ in range(2):
        assert bounds(doors.ours.table_statistics(doors.name(), ["a", "d"])) == [(1, 10)]
    doors.here.client().truncate_table(doors.direct.database, "t", None)
    assert doors.ours.table_statistics(doors.name(), ["a"]) == ()


def test_what_is_written_again_of_truncated_partitions_is_read(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 has no such call")
    doors.direct.table("p", COLUMNS, keys=("k",))
    doors.direct.add_partitions(("1",), ("2",), table="p", columns=COLUMNS)
    given = [of_partition(each, 1) for each in ("k=1", "k=2")]
    doors.there.put_partition_statistics(doors.name("p"), given)
    assert partitions_with(doors) == ["k=1", "k=2"]
    doors.here.client().truncate_table(doors.direct.database, "p", ["k=1", "k=2"])
    assert partitions_with(doors) == []
    doors.there.put_partition_statistics(doors.name("p"), given[1:])
    assert partitions_with(doors) == ["k=2"]
    doors.there.put_partition_statistics(doors.name("p"), given[:1])
    assert partitions_with(doors) == ["k=1", "k=2"]


def test_a_column_of_another_type_has_no_statistics(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    until(3, lambda: len(doors.there.table_statistics(doors.name(), ["a", "d", "s"])))
    table = doors.direct.read_table()
    table.sd.cols = [each for each in table.sd.cols if each.name != "a"]
    table.sd.cols.append(api.FieldSchema(name="a", type="string", comment=""))
    doors.direct.client().alter_table_with_environment_context(doors.direct.database, "t", table, None)
    assert [each.column for each in doors.ours.table_statistics(doors.name(), ["a", "d", "s"])] == ["d", "s"]


@pytest.mark.parametrize("partition", [None, "k=1"])
def test_what_is_written_again_of_a_column_that_came_back_is_read(doors: Doors, partition: str | None) -> None:
    """As by an analysis of unchanged data. Between the changes somebody asks for another column."""
    doors.direct.table("p", COLUMNS, keys=("k",) if partition else ())
    if partition:
        doors.direct.add_partitions(("1",), table="p", columns=COLUMNS)
    there, name = doors.there, doors.name("p")

    def write() -> None:
        if partition:
            there.put_partition_statistics(name, [StatisticsSet(of_all(1), partition)])
        else:
            there.put_table_statistics(name, StatisticsSet(of_all(1)))

    def read(columns: Sequence[str]) -> int:
        if not partition:
            return len(doors.ours.table_statistics(name, columns))
        return sum(len(each.columns) for each in doors.ours.partition_statistics(name, columns, [partition]))

    write()
    assert read(["a", "d", "s"]) == 3
    alter_columns(doors.direct, {"a": "bigint", "d": "double"}, partition)
    assert read(["d"]) == 1
    alter_columns(doors.direct, COLUMNS, partition)
    write()
    assert read(["a", "d", "s"]) == 3


def alter_columns(metastore: Metastore, columns: Mapping[str, str], partition: str | None) -> None:
    """Give table p these columns, and its partition too."""
    client, storage = metastore.client(), metastore.storage(columns)
    table = metastore.read_table("p")
    table.sd.cols = storage.cols
    client.alter_table(metastore.database, "p", table)
    if partition:
        found = client.get_partition_by_name(metastore.database, "p", partition)
        found.sd.cols = storage.cols
        client.alter_partitions(metastore.database, "p", [found])


@pytest.mark.slow
def test_partitions_at_both_doors(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], ["3"], columns=COLUMNS)
    ours, there = doors.ours, doors.there
    days = ["day=1", "day=2", "day=3"]

    def read(client: Client) -> dict[str | None, list[tuple[Any, Any]]]:
        found = client.partition_statistics(doors.name(), ["a"], days)
        return {each.partition: bounds(each.columns) for each in found}

    there.put_partition_statistics(doors.name(), [of_partition("day=1", 1)])
    ours.put_partition_statistics(doors.name(), [of_partition("day=2", 2)])
    assert read(ours) == {"day=1": [(1, 2)], "day=2": [(2, 3)]}
    until(read(ours), lambda: read(there))
    there.put_partition_statistics(doors.name(), [of_partition("day=2", 5), of_partition("day=3", 6)])
    assert read(ours) == {"day=1": [(1, 2)], "day=2": [(5, 6)], "day=3": [(6, 7)]}
    found, parts = ours.aggregated_statistics(doors.name(), ["a"], days)
    assert (bounds(found), parts) == ([(1, 7)], 3)
    doors.here.client().drop_partition_by_name(doors.direct.database, "t", "day=2", True)
    doors.here.add_partitions(["2"], columns=COLUMNS)
    assert read(ours) == {"day=1": [(1, 2)], "day=3": [(6, 7)]}


def test_a_renamed_partition_keeps_its_sketches(doors: Doors) -> None:
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    ours, there = doors.ours, doors.there
    given = StatisticsSet((long(1, 3, values=("1", "2", "2")),), "day=1")
    ours.put_partition_statistics(doors.name(), [given, of_partition("day=2", 7)])

    def read(client: Client) -> dict[str | None, list[tuple[Any, Any]]]:
        found = client.partition_statistics(doors.name(), ["a"], ["day=1", "day=2", "day=3 4"])
        return {each.partition: bounds(each.columns) for each in found if each.columns}

    until(read(ours), lambda: read(there))
    renamed = doors.here.client().get_partition(doors.direct.database, "t", ["1"])
    renamed.values = ["3 4"]
    doors.here.client().rename_partition(doors.direct.database, "t", ["1"], renamed)
    assert read(ours) == read(there)
    if doors.direct.generation < 3:  # it loses them
        assert read(ours) == {"day=2": [(7, 8)]}
        return
    assert read(ours) == {"day=2": [(7, 8)], "day=3 4": [(1, 3)]}
    assert [each.value for each in ours.top_k(doors.name(), "a", 1, partitions=["day=3 4"]).values] == [2]


def test_objects_that_are_asked_for_with_their_statistics(doors: Doors) -> None:
    """Whatever the upstream knows of such statistics: they are put into its answers here."""
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2 3"], columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    doors.ours.put_partition_statistics(doors.name(), [of_partition("day=2 3", 2)])
    plain, found = doors.direct.read_table(), doors.here.read_table(getColumnStats=True, engine="hive")
    assert {each.colName for each in found.colStats.statsObj} == {"a", "d", "s"}
    found.colStats = plain.colStats = None
    for table in (plain, found):
        table.parameters.pop("COLUMN_STATS_ACCURATE", None)  # comes with what is sent behind the write
    assert (found.sd, found.parameters, found.createTime) == (plain.sd, plain.parameters, plain.createTime)
    assert doors.here.read_table().colStats is None
    if doors.direct.generation < 4:
        return
    names = ["day=2 3", "day=missing", "day=1"]
    request = api.GetPartitionsByNamesRequest(
        db_name=doors.direct.database, tbl_name="t", names=names, get_col_stats=True, engine="hive"
    )
    partitions = doors.here.client().get_partitions_by_names_req(request).partitions
    said = {each.values[0]: each.colStats and each.colStats.statsObj[0].statsData.longStats for each in partitions}
    assert said.keys() == {"1", "2 3"}
    assert (said["1"], said["2 3"].lowValue, said["2 3"].highValue) == (None, 2, 3)


@pytest.mark.slow
def test_random_writes_at_both_doors_end_with_the_same_statistics(doors: Doors) -> None:
    """Clients write, delete and drop at both doors in turn; after each step the gateway says what was written last."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    choose = random.Random(seed)
    clients = {"there": doors.there, "here": doors.ours}
    doors.here.table(columns=COLUMNS, keys=["day"])
    doors.here.add_partitions(["1"], ["2"], columns=COLUMNS)
    expected: dict[str | None, tuple[int, int]] = {}
    # An hmstats answers for the table itself what its partitions say together.
    places = [None, "day=1", "day=2"][doors.direct.ours :]
    for step in range(STEPS):
        door, place = choose.choice(list(clients)), choose.choice(places)
        metastore = doors.here if door == "here" else doors.direct
        if door == "there":  # what is on its way to the upstream would come behind this write
            until(expected, lambda: read_all(doors, doors.there, places))
        match choose.choice(["write", "write", "write", "delete", "drop"]):
            case "write" if place is None:
                clients[door].put_table_statistics(doors.name(), StatisticsSet((long(step, step + 1),)))
                expected[None] = (step, step + 1)
            case "write":
                clients[door].put_partition_statistics(doors.name(), [of_partition(place or "", step)])
                expected[place] = (step, step + 1)
            case "delete" if place is None and door == "here":
                deleted(metastore.client().delete_table_column_statistics, doors.direct.database, "t", "a", "hive")
                expected.pop(None, None)
            case "drop" if place is not None and (door == "here" or not expected.get(place)):
                metastore.client().drop_partition_by_name(doors.direct.database, "t", place, True)
                metastore.add_partitions([place.removeprefix("day=")], columns=COLUMNS)
                expected.pop(place, None)
        if choose.random() < 0.3:
            time.sleep(choose.random() * 2 * SECONDS)
        assert read_all(doors, doors.ours, places) == expected, (step, door, place)
    until(expected, lambda: read_all(doors, doors.there, places))


def deleted(call: Callable[..., object], *arguments: object) -> None:
    """Delete statistics; a Hive says so if there are none."""
    with suppress(api.NoSuchObjectException):
        call(*arguments)


def read_all(doors: Doors, client: Client, places: Sequence[str | None]) -> dict[str | None, tuple[int, int]]:
    """The bounds of column a, of the table (None) and of partitions."""
    found: dict[str | None, tuple[int, int]] = {}
    for each in bounds(client.table_statistics(doors.name(), ["a"])) if None in places else ():
        found[None] = each
    parts = client.partition_statistics(doors.name(), ["a"], [each for each in places if each])
    return found | {each.partition: bounds(each.columns)[0] for each in parts if each.columns}


def test_statistics_of_what_does_not_exist_are_refused_as_by_the_upstream(doors: Doors) -> None:
    assert_alike(doors, lambda client: client.table_statistics(doors.name("missing"), ["a"]))
    doors.here.table(columns=COLUMNS)
    assert_alike(doors, lambda client: client.table_statistics(doors.name(), ["b"]))


def assert_alike(doors: Doors, ask: Callable[[Client], object]) -> None:
    outcomes = []
    for client in (doors.there, doors.ours):
        try:
            outcomes.append(ask(client))
        except CallRefused as error:
            outcomes.append((error.method, error.kind))
    assert outcomes[0] == outcomes[1]


@pytest.mark.slow
def test_newer_statistics_at_the_upstream_win_over_unsent_ones(tmp_path: Path) -> None:
    with ExitStack() as stack:
        upstream = stack.enter_context(serving(tmp_path_of(tmp_path, "upstream")))
        given = ("--upstream", f"thrift://127.0.0.1:{upstream}")
        settings = {"upstream_writes": "off"}
        port = stack.enter_context(serving(tmp_path_of(tmp_path, "gateway"), *given, settings=settings))
        here = Metastore("gateway", port, 4.0)
        stack.enter_context(here.clients)
        ours = stack.enter_context(connect(f"thrift://127.0.0.1:{port}", retries=0))
        there = stack.enter_context(connect(f"thrift://127.0.0.1:{upstream}", retries=0))
        here.client().create_database(api.Database(name=here.database, description="", parameters={}))
        here.table(columns=COLUMNS)
        name = f"{here.database}.t"
        for step in range(3):
            ours.put_table_statistics(name, StatisticsSet((long(step, 10 + step),)))
            assert bounds(ours.table_statistics(name, ["a"])) == [(step, 10 + step)]
            there.put_table_statistics(name, StatisticsSet((long(step, 20 + step),)))
            assert bounds(ours.table_statistics(name, ["a"])) == [(step, 20 + step)]
        ours.put_table_statistics(name, StatisticsSet((long(5, 6),)))
        assert bounds(there.table_statistics(name, ["a"])) == [(2, 22)]
        assert bounds(ours.table_statistics(name, ["a"])) == [(5, 6)]


@pytest.mark.slow
def test_leaving_sends_what_the_upstream_lacks(tmp_path: Path) -> None:
    with ExitStack() as stack:
        upstream = stack.enter_context(serving(tmp_path_of(tmp_path, "upstream")))
        there = stack.enter_context(connect(f"thrift://127.0.0.1:{upstream}", retries=0))
        folder, address = tmp_path_of(tmp_path, "gateway"), f"thrift://127.0.0.1:{upstream}"
        with serving(folder, "--upstream", address, settings={"upstream_writes": "off"}) as port:
            here = Metastore("gateway", port, 4.0)
            with here.clients, connect(f"thrift://127.0.0.1:{port}", retries=0) as ours:
                here.client().create_database(api.Database(name=here.database, description="", parameters={}))
                for table in ("t", "u"):
                    here.table(table, columns=COLUMNS)
                    ours.put_table_statistics(f"{here.database}.{table}", StatisticsSet(of_all(1)))
                here.client().drop_table(here.database, "u", True)
                here.table("v", columns=COLUMNS, keys=["day"])
                here.add_partitions(["1"], table="v", columns=COLUMNS)
                ours.put_partition_statistics(f"{here.database}.v", [of_partition("day=1", 4)])
        leave = ["leave", "--database", f"sqlite:///{folder}/hmstats.sqlite", "--upstream", address]
        asked = run_here(*leave).stdout
        assert asked.splitlines() == [
            *(f"{here.database}.{each}: the upstream lacks statistics" for each in ("t", "v")),
            "--write sends them; nothing was changed",
        ]
        assert there.table_statistics(f"{here.database}.t", ["a"]) == ()
        there.locks.lock(LockedObject(DatabaseName("hive", here.database), "v"), refuse=True)
        partly = run_here(*leave, "--write")
        assert (partly.returncode, partly.stdout.splitlines()[0].partition(": ")[0]) == (3, f"{here.database}.v")
        assert run_here(*leave, "--write").returncode == 2
        there.locks.unlock(LockedObject(DatabaseName("hive", here.database), "v"))
        done = run_here(*leave, "--write").stdout
        said = f"the upstream has all statistics that it can store: clients may use {address} again\n"
        assert done == said
        assert there.table_statistics(f"{here.database}.t", ["a", "d", "s"]) == of_all(1)
        found = list(there.partition_statistics(f"{here.database}.v", ["a"], ["day=1"]))
        assert bounds(found[0].columns) == [(4, 5)]
        assert run_here(*leave).stdout == said


@pytest.mark.slow
def test_a_call_whose_server_was_killed_leaves_nothing_of_a_table(tmp_path: Path) -> None:
    """The row of the call is what a killed server leaves: it is written by hand, as that server would have."""
    with ExitStack() as stack:
        upstream = stack.enter_context(serving(tmp_path_of(tmp_path, "upstream")))
        folder = tmp_path_of(tmp_path, "gateway")
        settings = {"upstream_seconds": 1, "upstream_connect_seconds": 1, "upstream_write_seconds": SECONDS}
        given = ("--upstream", f"thrift://127.0.0.1:{upstream}")
        port = stack.enter_context(serving(folder, *given, settings=settings))
        here = Metastore("gateway", port, 4.0)
        stack.enter_context(here.clients)
        client = stack.enter_context(connect(f"thrift://127.0.0.1:{port}", retries=0))
        there = stack.enter_context(connect(f"thrift://127.0.0.1:{upstream}", retries=0))
        here.client().create_database(api.Database(name=here.database, description="", parameters={}))
        here.table(columns=COLUMNS)
        name = f"{here.database}.t"
        client.put_table_statistics(name, StatisticsSet((long(1, 3, values=("1",)),)))
        until([(1, 3)], lambda: bounds(there.table_statistics(name, ["a"])))
        with closing(sqlite3.connect(folder / "hmstats.sqlite")) as database, database:
            row = ("ab", "hive", here.database, "t", int(time.time()))
            database.execute('INSERT INTO "HMSTATS_MIRROR_CALL" VALUES (?, ?, ?, ?, ?)', row)
        assert bounds(client.table_statistics(name, ["a"])) == [(1, 3)]
        with pytest.raises(CallRefused):  # the upstream answers, and has no frequent values
            client.top_k(name, "a", 1)


def tmp_path_of(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made
