"""Preferences, pending statistics, locks on databases, runs, blame and health, at a gateway."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, Doors, bounds, long, of_all, until

from hmstats.client import Metastore as Client
from hmstats.client import connect
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences.preference import EVERYTHING, Subject
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import hive_metastore as api


def database(doors: Doors) -> DatabaseName:
    return DatabaseName("hive", doors.direct.database)


def waits_in(doors: Doors) -> list[str | None]:
    return [each.partition for each in doors.ours.pending.listed(doors.direct.database)]


def in_force(client: Client, doors: Doors) -> list[tuple[Any, Any]]:
    return bounds(client.table_statistics(doors.name(), ["a"]))


@pytest.fixture
def automatic(doors: Doors) -> Client:
    """A client at the gateway whose writes the guard looks at."""
    made = connect(f"thrift://127.0.0.1:{doors.here.port}", retries=0, automatic=True)
    doors.direct.clients.callback(made.close)
    return made


def test_new_numbers_wait_until_they_are_published(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    rows = doors.direct.parameters().get("numRows")
    doors.ours.preferences.change(Subject(database(doors), "t"), {"publish": "false"})
    doors.ours.put_together(doors.name(), [StatisticsSet(of_all(1))], {None: {"numRows": "77", "spice": "cumin"}})
    assert waits_in(doors) == [None]
    assert in_force(doors.ours, doors) == []
    parameters = doors.direct.parameters()
    assert (parameters.get("numRows"), parameters.get("spice")) == (rows, "cumin")
    (held,) = doors.ours.pending.of_table(doors.name()).sets
    assert [each.column for each in held.columns] == ["a", "d", "s"]
    assert doors.ours.pending.publish(doors.name()) == (1, 0)
    assert waits_in(doors) == []
    assert in_force(doors.ours, doors) == [(1, 10)]
    until([(1, 10)], lambda: in_force(doors.there, doors))
    assert doors.direct.parameters()["numRows"] == "77"


def test_what_waits_of_partitions_may_be_published_one_by_one_or_rejected(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS, keys=["p"])
    doors.direct.add_partitions(["1"], ["2"], ["3"], columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors)), {"publish": "false"})
    names = ["p=1", "p=2", "p=3"]
    sets = [StatisticsSet((long(1, 9),), each) for each in names]
    doors.ours.put_partition_statistics(doors.name(), sets)
    assert sorted(map(str, waits_in(doors))) == names
    assert doors.ours.pending.publish(doors.name(), ["p=2"]) == (1, 0)
    assert doors.ours.pending.reject(doors.name(), ["p=3"]) == 1
    assert waits_in(doors) == ["p=1"]

    def partitions(client: Client) -> list[str | None]:
        return [each.partition for each in client.partition_statistics(doors.name(), ["a"], names)]

    assert partitions(doors.ours) == ["p=2"]
    wanted: list[str | None] = ["p=2"]
    until(wanted, lambda: partitions(doors.there))


def waiting_columns(doors: Doors) -> dict[str | None, list[str]]:
    return {each.partition: sorted(each.columns) for each in doors.ours.pending.listed(doors.direct.database)}


def test_newer_numbers_of_the_upstream_replace_those_that_wait(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors), "t"), {"publish": "false"})
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert waiting_columns(doors) == {None: ["a", "d", "s"]}
    doors.there.put_table_statistics(doors.name(), StatisticsSet((long(50, 60),)))
    assert in_force(doors.ours, doors) == [(50, 60)]
    assert waiting_columns(doors) == {None: ["d", "s"]}
    doors.ours.pending.publish(doors.name())
    assert in_force(doors.ours, doors) == [(50, 60)]


def test_newer_numbers_of_partitions_replace_those_that_wait(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS, keys=["p"])
    doors.direct.add_partitions(["1"], ["2"], columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors), "t"), {"publish": "false"})
    names = ["p=1", "p=2"]
    doors.ours.put_partition_statistics(doors.name(), [StatisticsSet((long(1, 9),), each) for each in names])
    doors.there.put_partition_statistics(doors.name(), [StatisticsSet((long(50, 60),), "p=2")])
    found = doors.ours.partition_statistics(doors.name(), ["a"], names)
    assert {each.partition: bounds(each.columns) for each in found} == {"p=2": [(50, 60)]}
    assert waiting_columns(doors) == {"p=1": ["a"]}


def test_what_waits_of_rows_that_are_gone_is_removed(doors: Doors) -> None:
    if doors.direct.generation < 3:
        pytest.skip("Hive 2.3 has no truncate_table")
    doors.direct.table(columns=COLUMNS, keys=["p"])
    doors.direct.add_partitions(["1"], ["2"], columns=COLUMNS)
    doors.direct.table("u", columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors)), {"publish": "false"})
    sets = [StatisticsSet((long(1, 9),), each) for each in ("p=1", "p=2")]
    doors.ours.put_partition_statistics(doors.name(), sets)
    doors.ours.put_table_statistics(doors.name("u"), StatisticsSet((long(1, 9),)))
    assert sorted(map(str, waits_in(doors))) == ["None", "p=1", "p=2"]
    client = doors.here.client()
    client.truncate_table(doors.direct.database, "t", ["p=2"])
    assert sorted(map(str, waits_in(doors))) == ["None", "p=1"]
    client.truncate_table(doors.direct.database, "u", None)
    assert waits_in(doors) == ["p=1"]


def test_what_waits_of_a_column_that_has_another_type_is_removed(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors), "t"), {"publish": "false"})
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    table = doors.direct.read_table()
    table.sd.cols = [each for each in table.sd.cols if each.name != "a"]
    table.sd.cols.append(api.FieldSchema(name="a", type="string", comment=""))
    doors.direct.client().alter_table_with_environment_context(doors.direct.database, "t", table, None)
    assert in_force(doors.ours, doors) == []
    assert waiting_columns(doors) == {None: ["d", "s"]}


def test_the_guard_holds_what_jumps(doors: Doors, automatic: Client) -> None:
    doors.direct.table(columns=COLUMNS)
    automatic.put_table_statistics(doors.name(), StatisticsSet((long(1, 9, 50_000),)))
    assert in_force(doors.ours, doors) == [(1, 9)]
    automatic.put_table_statistics(doors.name(), StatisticsSet((long(1, 900, 5_000_000),)))
    assert in_force(doors.ours, doors) == [(1, 9)]
    assert waits_in(doors) == [None]
    doors.ours.pending.reject(doors.name())
    assert waits_in(doors) == []


def test_canaries_see_what_waits(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.ours.preferences.change(Subject(database(doors), "t"), {"publish": "false"})
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(3, 4),)))
    canary, other = doors.here.client(), doors.here.client()
    canary.setMetaConf("hmstats.canary", "true")
    assert canary.getMetaConf("hmstats.canary") == "true"

    def read(client: Any) -> list[Any]:
        wanted = api.TableStatsRequest(dbName=doors.direct.database, tblName="t", colNames=["a"], engine="hive")
        return [each.statsData.longStats.lowValue for each in client.get_table_statistics_req(wanted).tableStats]

    for _ in range(2):
        assert read(canary) == [3]
        assert read(other) == []


def test_preferences_are_kept_of_everything_and_of_each_object(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS, keys=["p"])
    doors.direct.add_partitions(["1"], columns=COLUMNS)
    ours, of = doors.ours.preferences, database(doors)
    stated = [
        (EVERYTHING, "sample", "0.5"),
        (Subject(of), "guard", "off"),
        (Subject(of, "t"), "precision", "11"),
        (Subject(of, "t", column="a"), "histogram", "true"),
        (Subject(of, "t", partition="p=1"), "automatic", "false"),
    ]
    for subject, name, text in stated:
        ours.change(subject, {name: text})
    found = {(each.subject, each.name): each.text for each in ours.listed(of.database)}
    assert found == {(subject, name): text for subject, name, text in stated}
    for subject, name, _ in stated:
        assert ours.change(subject, {}, [name]) == 1
    assert ours.listed(of.database) == []


def test_what_does_not_exist_at_the_upstream_is_named(doors: Doors) -> None:
    ours, of = doors.ours, database(doors)
    nowhere = DatabaseName("hive", f"{of.database}_none")
    for act in (
        lambda: ours.preferences.change(Subject(nowhere), {"guard": "off"}),
        lambda: ours.locks.lock(LockedObject(nowhere), reason=None),
    ):
        with pytest.raises(CallRefused, match=f"{nowhere.database}"):
            act()
    with pytest.raises(CallRefused, match="gone"):
        ours.preferences.change(Subject(of, "gone"), {"guard": "off"})
    with pytest.raises(CallRefused, match="gone"):
        ours.pending.publish(f"{of.database}.gone")


def test_tables_that_are_left_to_the_upstream_say_so(doors: Doors) -> None:
    view = api.Table(
        dbName=doors.direct.database,
        tableName="t",
        owner="tester",
        sd=doors.direct.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="VIRTUAL_VIEW",
        viewOriginalText="select 1",
        viewExpandedText="select 1",
    )
    doors.direct.client().create_table(view)
    if doors.direct.flavour.startswith("hmstats"):
        pytest.skip("an hmstats answers these calls of its views itself")
    for act in (
        lambda: doors.ours.preferences.change(Subject(database(doors), "t"), {"guard": "off"}),
        lambda: doors.ours.locks.lock(LockedObject(database(doors), "t"), reason=None),
        lambda: doors.ours.pending.of_table(doors.name()),
    ):
        with pytest.raises(CallRefused, match=r"\.t is left to the upstream, which does not know .*: it is a view"):
            act()


def test_a_database_is_locked_with_tables_to_come(doors: Doors) -> None:
    of = LockedObject(database(doors))
    doors.ours.locks.lock(of, reason="checked by hand")
    doors.direct.table(columns=COLUMNS)
    doors.ours.put_together(doors.name(), [StatisticsSet(of_all(1))], {None: {"numRows": "77"}})
    assert in_force(doors.ours, doors) == []
    assert doors.direct.parameters().get("numRows") != "77"
    (listed,) = doors.ours.locks.listed(doors.direct.database)
    assert (listed.object, listed.reason) == (of, "checked by hand")
    assert doors.ours.locks.unlock(of) == 1
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    assert in_force(doors.ours, doors) == [(1, 10)]


def test_a_database_that_is_made_anew_has_nothing_of_the_old_one(doors: Doors) -> None:
    name = doors.direct.database
    doors.ours.locks.lock(LockedObject(database(doors)), reason=None)
    doors.ours.preferences.change(Subject(database(doors)), {"guard": "off"})
    client = doors.here.client()
    client.drop_database(name, True, True)
    client.create_database(api.Database(name=name, description="", parameters={}))
    assert doors.ours.locks.listed(name) == []
    assert [each for each in doors.ours.preferences.listed(name) if each.subject != EVERYTHING] == []


def test_runs_have_their_table_to_themselves_and_are_recorded(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    table = TableName("hive", doors.direct.database, "t")
    first, second = (
        Run(f"{doors.direct.database}-{each}", table, "tests", 1_000, Outcome.RUNNING) for each in ("one", "two")
    )
    runs = doors.ours.runs
    assert runs.begin(first, 60).started
    assert runs.begin(second, 60).held_by == "tests"
    assert runs.renew(first, 60)
    assert runs.end(Run(first.id, table, "tests", 1_000, Outcome.DONE, ended_ms=2_000))
    assert runs.begin(second, 60).started
    listed, _ = runs.listed(databases=doors.direct.database)
    assert {each.id: each.outcome for each in listed} == {first.id: Outcome.DONE, second.id: Outcome.RUNNING}


def test_blame_is_kept(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
    until([(1, 10)], lambda: in_force(doors.there, doors))
    table = TableName("hive", doors.direct.database, "t")
    blame = Blame(table, "a", Use.EQUALITY, Verdict.WRONG, 10.0, 1_000, 100.0, 2.0)
    assert doors.ours.blame.record([Seen(blame, "spark", "s1", 9_999_999_999_999)]) == 1
    (found,) = doors.ours.blame.sums(databases=doors.direct.database)
    assert (found.worst.blame.column, found.weight) == ("a", 2.0)


def test_health_is_judged_by_what_is_here(doors: Doors) -> None:
    doors.direct.table(columns=COLUMNS)
    doors.direct.table("u", columns=COLUMNS)
    doors.ours.put_together(doors.name(), [StatisticsSet(of_all(1))], {None: {"numRows": "10"}})
    assert doors.ours.table_statistics(doors.name("u"), ["a"]) == ()

    def health() -> dict[str, bool]:
        found = doors.ours.health.tables(databases=doors.direct.database)
        return {each.table.table: each.health.health >= 80 for each in found}

    until({"t": True, "u": False}, health)


@pytest.mark.hive
def test_health_tells_of_changes_that_pass_the_gateway_by(hive_3_1: int, tmp_path: Path) -> None:
    direct = Metastore("hive-3.1", hive_3_1, 3.1)
    upstream, settings = f"thrift://127.0.0.1:{hive_3_1}", {"upstream_write_seconds": 0.2}
    with direct.clients, serving(tmp_path, "--upstream", upstream, settings=settings) as port:
        doors = Doors(direct, replace(direct, port=port))
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        direct.table(columns=COLUMNS, keys=["p"])
        direct.table("u", columns=COLUMNS)
        direct.add_partitions(*(["0"], ["1"], ["2"], ["9"]), columns=COLUMNS)
        names = ["p=0", "p=1", "p=2", "p=9"]
        sets = [StatisticsSet(of_all(1), each) for each in names]
        doors.ours.put_together(doors.name(), sets, {each: {"numRows": "10"} for each in names})
        doors.ours.put_together(doors.name("u"), [StatisticsSet(of_all(1))], {None: {"numRows": "10"}})
        # If a partition is dropped while its statistics come, this Hive keeps one without values.
        until(len(names), lambda: len(list(doors.there.partition_statistics(doors.name(), ["a"], names))))
        until(1, lambda: len(doors.there.table_statistics(doors.name("u"), ["a"])))
        direct.add_partitions(*(["3"], ["4"]), columns=COLUMNS)
        client = direct.client()
        client.drop_partition(direct.database, "t", ["9"], True)
        table = client.get_table(direct.database, "u")
        table.parameters["numRows"] = "1000000"
        client.alter_table(direct.database, "u", table)

        def stale() -> dict[str, tuple[int | None, int | None, bool]]:
            found = {each.table.table: each.health for each in doors.ours.health.tables(databases=direct.database)}
            return {name: (each.partitions, each.stale_partitions, each.health < 80) for name, each in found.items()}

        until({"t": (5, 2, True), "u": (None, None, True)}, stale)
        found = {each.partition: each.health.health >= 80 for each in doors.ours.health.partitions(doors.name())}
        assert found == {"p=0": True, "p=1": True, "p=2": True, "p=3": False, "p=4": False}


@pytest.mark.parametrize("door", ["here", "direct"])
def test_locks_outlive_a_move_of_directories(doors: Doors, door: str) -> None:
    """Of a table and of a partition, as of a table that points to another day's directory each day."""
    doors.direct.table(columns=COLUMNS, keys=["day"])
    doors.direct.add_partitions(["1"], columns=COLUMNS)
    doors.ours.locks.lock(LockedObject(database(doors), "t", columns=("a",)))
    doors.ours.locks.lock(LockedObject(database(doors), "t", "day=1", columns=("a",)))
    changing: Metastore = getattr(doors, door)
    table, partition = changing.read_table(), changing.client().get_partition_by_name(changing.database, "t", "day=1")
    table.sd.location += "_other"
    changing.client().alter_table(changing.database, "t", table)
    partition.sd.location += "_other"
    changing.client().alter_partition(changing.database, "t", partition)
    assert doors.direct.read_table().sd.location.endswith("_other")
    assert doors.direct.client().get_partition_by_name(changing.database, "t", "day=1").sd.location.endswith("_other")
    doors.ours.table_statistics(doors.name(), ["a"])
    assert list(doors.ours.partition_statistics(doors.name(), ["a"], ["day=1"])) == []
    locked = sorted(str(each.object.partition) for each in doors.ours.locks.listed(doors.direct.database))
    assert locked == ["None", "day=1"]
