"""Health, runs, blame and preferences of all places in one list, before other hmstats and before Hives."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.parted import NAMES, parted
from tests.fixtures.commands import run_here
from tests.gateway.doors import long, until
from tests.gateway.places.several import Several

from hmstats.client import Metastore as Client
from hmstats.client import connect
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences.preference import EVERYTHING
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import extension
from hmstats.wire.statistics.blame import seen_to_thrift

PLACES = [
    pytest.param("places", id="hmstats"),
    pytest.param("hives", id="hives", marks=[pytest.mark.slow, pytest.mark.hive]),
]


@pytest.fixture(params=PLACES)
def several(request: pytest.FixtureRequest) -> Several:
    found: Several = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def ours(several: Several) -> Iterator[Client]:
    with connect(f"thrift://127.0.0.1:{several.front.port}", retries=0) as found:
        yield found


def made(several: Several, ours: Client, suffix: str, tables: int = 1) -> list[TableName]:
    """Tables of three places with statistics of some of them."""
    names = []
    for database in (f"a_{suffix}", f"b_{suffix}", f"own_{suffix}"):
        several.make(database)
        for number in range(tables):
            several.table(database, f"t{number}")
            names.append(TableName("hive", database, f"t{number}"))
            if number % 2:
                ours.put_together(names[-1], [StatisticsSet((long(3, 7),))], {None: {"numRows": "10"}})
            else:
                assert ours.table_statistics(names[-1], ["a"]) == ()
    return names


def in_pages(ours: Client, databases: str, most: int) -> list[tuple[int, TableName]]:
    """The health of tables, of which a page has no more than that."""
    found, after = [], None
    for _ in range(100):
        page = ours.health.page(databases, after=after, most=most)
        assert len(page.entries) <= most
        found += [(each.health.health, each.table) for each in page.entries]
        if (after := page.next_page) is None:
            return found
    raise AssertionError("the pages do not end")


def test_health_of_all_places_is_listed_from_the_worst_page_by_page(several: Several, ours: Client) -> None:
    names = made(several, ours, "sick", tables=5)
    healthy = {each for each in names if each.table in ("t1", "t3")}
    until(healthy, lambda: {each.table for each in ours.health.tables("*_sick") if each.health.health >= 80})
    whole = in_pages(ours, "*_sick", 1_000)
    assert [each for each, _ in whole] == sorted(each for each, _ in whole)
    assert sorted(name.database for _, name in whole) == sorted(each.database for each in names)
    for most in (1, 2, 4, 14, 15):
        paged = in_pages(ours, "*_sick", most)
        assert sorted(paged, key=str) == sorted(whole, key=str)
        assert [each for each, _ in paged] == [each for each, _ in whole]


@pytest.mark.parametrize("cursor", ["80.1", "{}", "[]", '{"other": ""}', '{"": 1}', '{"": "x"}'])
def test_a_cursor_that_no_page_gave_is_refused(several: Several, ours: Client, cursor: str) -> None:
    with pytest.raises(CallRefused, match="a page of health begins after the text `nextPage`"):
        ours.health.page(after=cursor)


def test_what_own_tables_refuse_is_refused(several: Several, ours: Client) -> None:
    with pytest.raises(CallRefused, match="a page of health has 1 to 1,000 entries, found 0"):
        ours.health.page(most=0)
    with pytest.raises(CallRefused, match="a list of blame has 1 to 1,000 entries"):
        ours.blame.sums(most=5_000)


@pytest.mark.parametrize(
    "method",
    [
        *("get_statistics_health", "get_statistics_runs", "get_blame", "record_blame", "change_preferences"),
        *("get_preferences", "list_pending_statistics", "get_statistics_locks"),
    ],
)
def test_a_call_without_its_request_is_refused(several: Several, ours: Client, method: str) -> None:
    with pytest.raises(CallRefused, match="must have the argument request, found none"):
        ours._connection.call(method, None)
    assert ours.health.page("none").entries == ()


def test_blame_that_names_no_table_is_refused(several: Several, ours: Client) -> None:
    (name, *_) = made(several, ours, "nobody")
    good = seen_to_thrift(Seen(Blame(name, "a", Use.EQUALITY, Verdict.WRONG, 1.0, 1, 1.0, 1.0), "spark", "s", 10**13))
    for bad, said in (
        ({"dbName": None}, "must be texts, found None and t0"),
        ({"dbName": b"\xff"}, "the arguments of record_blame cannot be read"),
        ({"tblName": None}, "is refused by upstream first: .* must be texts, found a_nobody and None"),
    ):
        entry = extension.Blame(**{**vars(good), **bad})
        with pytest.raises(CallRefused, match=said):
            ours._connection.call("record_blame", extension.BlameRecords(blame=[entry]))
    assert ours.blame.sums(databases="*_nobody") == []


def test_runs_of_all_places_are_listed_from_the_newest(several: Several, ours: Client) -> None:
    names = made(several, ours, "ran", tables=2)
    for name in names:
        assert ours.runs.begin(Run(f"run-{name}", name, "tests", 1, Outcome.RUNNING), 60).started
    listed, leases = ours.runs.listed(databases="*_ran")
    assert [each.table for each in listed] == names[::-1]
    assert {each.table for each in listed} == {name for name, _, _ in leases}
    assert [each.table for each in ours.runs.listed(databases="*_ran", most=4)[0]] == names[:1:-1]
    older, _ = ours.runs.listed(databases="*_ran", before_ms=listed[2].started_ms)
    assert [each.table for each in older] == names[2::-1]
    for name in names:
        assert ours.runs.end(Run(f"run-{name}", name, "tests", 1, Outcome.DONE, ended_ms=2))
    listed, leases = ours.runs.listed(databases="*_ran")
    assert {each.outcome for each in listed} == {Outcome.DONE}
    assert leases == []


def test_blame_of_all_places_is_recorded_by_one_call_and_listed_by_weight(several: Several, ours: Client) -> None:
    names = made(several, ours, "blamed", tables=2)
    seen = [
        Seen(Blame(name, "a", Use.EQUALITY, Verdict.WRONG, 10.0, 1_000, 100.0, float(n + 1)), "spark", "s", 10**13)
        for n, name in enumerate(names)
    ]
    assert ours.blame.record(seen) == len(names)
    assert [each.worst.blame.table for each in ours.blame.sums(databases="*_blamed")] == names[::-1]
    assert [each.weight for each in ours.blame.sums(databases="*_blamed", most=2)] == [6.0, 5.0]


def test_a_preference_of_everything_is_of_all_places(several: Several, ours: Client) -> None:
    names = made(several, ours, "preferred")
    assert ours.preferences.change(EVERYTHING, {"publish": "false"}) == 0
    try:
        assert [each.text for each in ours.preferences.listed() if each.subject == EVERYTHING] == ["false"]
        for name in names:
            ours.put_table_statistics(name, StatisticsSet((long(3, 7),)))
            assert ours.table_statistics(name, ["a"]) == ()
        assert {each.table for each in ours.pending.listed("*_preferred")} == set(names)
    finally:
        assert ours.preferences.change(EVERYTHING, {}, ["publish"]) == 1
    assert [each for each in ours.preferences.listed() if each.subject == EVERYTHING] == []
    for name in names:
        ours.pending.publish(name)
        ours.put_table_statistics(name, StatisticsSet((long(4, 8),)))
        assert ours.table_statistics(name, ["a"]) != ()


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.hive
def test_a_refresh_mends_tables_of_all_places(hives: Several, tmp_path: Path) -> None:
    databases = ("a_stale", "b_stale", "own_stale")
    for name in databases:
        parted(hives.front.port, tmp_path / name, ("number",), database=name)
    front = f"thrift://127.0.0.1:{hives.front.port}"
    with connect(front) as ours:
        for name in databases:
            assert list(ours.partition_statistics(f"{name}.t", ["number"], NAMES)) == []
        refreshed = run_here("refresh", "*_stale.*", "--metastore", front)
        assert refreshed.returncode == 0, refreshed.stdout + refreshed.stderr
        assert {each.table.database: each.health.health for each in ours.health.tables("*_stale")} == dict.fromkeys(
            databases, 100
        )
        assert {each.table.database for each in ours.runs.listed(databases="*_stale")[0]} == set(databases)
    for name, there in (("a_stale", hives.first), ("b_stale", hives.second)):
        with connect(f"thrift://127.0.0.1:{there.port}") as upstream:
            until(len(NAMES), lambda: len(list(upstream.partition_statistics(f"{name}.t", ["number"], NAMES))))  # noqa: B023
