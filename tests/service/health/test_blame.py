"""Blame is summed by table, column, use and verdict; a shape of query counts once a day."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.service.health.blame import MOST, BlameRecords
from hmstats.service.health.keeper import HealthKeeper
from hmstats.store.database.store import Store

NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000


@pytest.fixture
def records(store: Store, tmp_path: Path) -> BlameRecords:
    make_table(store, tmp_path, [1])
    store._clock = lambda: NOW_MS / 1_000
    return BlameRecords(store, HealthKeeper(store))


def seen(
    column: str | None = "a", shape: str = "s1", weight: float = 2.0, at_ms: int = NOW_MS, table: TableName = NAME
) -> Seen:
    blame = Blame(table, column, Use.EQUALITY, Verdict.WRONG, 10.0, 1_000, 100.0, weight)
    return Seen(blame, "spark", shape, at_ms)


def test_the_heaviest_comes_first_with_its_worst_query(records: BlameRecords) -> None:
    given = [seen("a"), seen("a", "s2", 5.0), seen("b", weight=6.0), seen(None, weight=1.0)]
    assert records.record(given) == 4
    found = records.sums("hive", None, None, 0, None)
    assert [(each.worst.blame.column, each.queries, each.weight) for each in found] == [
        ("a", 2, 7.0),
        ("b", 1, 6.0),
        (None, 1, 1.0),
    ]
    assert found[0].worst == seen("a", "s2", 5.0)
    assert len(records.sums("hive", None, None, 0, 2)) == 2


def test_a_shape_counts_once_a_day_and_reading_a_file_twice_changes_nothing(records: BlameRecords) -> None:
    for _ in range(2):
        records.record([seen(weight=1.0), seen(weight=3.0), seen(at_ms=NOW_MS - DAY_MS, weight=4.0)])
    (found,) = records.sums("hive", None, None, 0, None)
    assert (found.queries, found.weight, found.last_ms) == (2, 7.0, NOW_MS)
    (found,) = records.sums("hive", None, None, NOW_MS - 1_000, None)
    assert (found.queries, found.weight) == (1, 3.0)


def test_patterns_and_tables_that_are_gone(records: BlameRecords) -> None:
    records.record([seen(), seen(table=replace_table("gone"))])
    assert len(records.sums("hive", NAME.database, NAME.table, 0, None)) == 1
    assert len(records.sums("hive", None, None, 0, None)) == 1
    assert records.sums("hive", None, "other*", 0, None) == []
    assert records.sums("other", None, None, 0, None) == []


def replace_table(name: str) -> TableName:
    return TableName(NAME.catalog, NAME.database, name)


def test_old_and_future_queries(records: BlameRecords) -> None:
    assert records.record([seen(at_ms=NOW_MS - 40 * DAY_MS), seen(at_ms=NOW_MS + DAY_MS)]) == 1
    (found,) = records.sums("hive", None, None, 0, None)
    assert found.last_ms == NOW_MS
    assert records.remove_older(-1.0) == 1
    assert records.sums("hive", None, None, 0, None) == []


def test_too_many(records: BlameRecords) -> None:
    with pytest.raises(InvalidInput, match="at most 1,000"):
        records.record([replace(seen(), shape=str(number)) for number in range(MOST + 1)])
    with pytest.raises(InvalidInput, match="1 to 1,000"):
        records.sums("hive", None, None, 0, MOST + 1)


def test_no_statement_for_each_entry(records: BlameRecords, statements: StatementCounter) -> None:
    records.sums("hive", None, None, 0, None)  # judges the health of new tables
    with statements() as sent:
        records.record([seen(f"c{number}", f"s{number}") for number in range(500)])
    assert len(sent) <= 2
    with statements() as sent:
        assert len(records.sums("hive", None, None, 0, None)) == 500
    assert len(sent) <= 4
