"""Partitions merged into cells: at most 400 of them, in the order of the keys' values, and none is lost."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise, product
from typing import Any

import pytest

from hmstats.errors import NoSuchObject, StatementError
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Column, Partition, Table, TableName
from hmstats.web.answers.partitions import MOST_CELLS, Layout, PartitionCells
from hmstats.web.reading.partition_cells import partition_cells, partition_list, read_partitions
from hmstats.web.reading.selections import Selection


class Partitions:
    """A metastore that has one table with these partitions."""

    address = "thrift://here:1"

    def __init__(self, keys: dict[str, str], values: Sequence[Sequence[str]]) -> None:
        columns = tuple(Column(name, kind) for name, kind in keys.items())
        self._table = Table(name=TableName("hive", "d", "t"), partition_keys=columns)
        self._values = {partition_name([*keys], each): tuple(each) for each in values}

    def find_table(self, _name: object) -> Table:
        return self._table

    def partition_names(self, _table: object) -> list[str]:
        return [*self._values]

    def partitions(self, _table: object, names: Sequence[str]) -> Iterator[Partition]:
        for name in names:
            yield Partition(values=self._values[name], parameters={"numRows": "10"})


def cells(keys: dict[str, str], values: Sequence[Sequence[str]], selection: Selection | None = None) -> PartitionCells:
    service: Any = Partitions(keys, values)
    return partition_cells(service, read_partitions(service, "d.t", selection or Selection()))


def days(count: int, first: date = date(2020, 1, 1)) -> list[list[str]]:
    return [[(first + timedelta(days=passed)).isoformat()] for passed in range(count)]


def test_a_year_of_days_is_a_calendar() -> None:
    found = cells({"ds": "string"}, days(366))
    assert found.layout is Layout.CALENDAR
    assert len(found.cells) == 366
    assert found.rows is not None
    assert found.rows.value == 3_660


def test_years_of_days_are_months_and_a_month_opens_its_days() -> None:
    found = cells({"ds": "date"}, days(900))
    assert found.layout is Layout.GRID
    assert [each.label for each in found.cells[:2]] == ["2020-01", "2020-02"]
    month = found.cells[1]
    assert (month.group, month.partitions) == ("2020", 29)
    opened = cells({"ds": "date"}, days(900), Selection(month.first, month.last))
    assert opened.layout is Layout.CALENDAR
    assert [each.label for each in opened.cells] == [f"2020-02-{day:02}" for day in range(1, 30)]
    assert (opened.partitions, opened.total) == (29, 900)


def test_keys_of_two_levels_are_groups() -> None:
    found = cells({"year": "int", "month": "int"}, [*product(["2023", "2024"], map(str, range(1, 13)))])
    assert [each.label for each in found.cells[:12]] == [str(each) for each in range(1, 13)]
    assert {each.group for each in found.cells} == {"2023", "2024"}


def test_too_many_for_the_second_level_stay_on_the_first() -> None:
    found = cells({"shop": "int", "n": "int"}, [*product(map(str, range(50)), map(str, range(50)))])
    assert [each.label for each in found.cells] == [str(each) for each in range(50)]
    assert not found.counted
    assert found.rows is None
    assert {each.rows for each in found.cells} == {None}
    opened = cells(
        {"shop": "int", "n": "int"},
        [*product(map(str, range(50)), map(str, range(50)))],
        Selection(found.cells[7].first, found.cells[7].last),
    )
    assert (opened.partitions, opened.counted, len(opened.cells)) == (50, True, 50)


@pytest.mark.parametrize("count", [399, 400, 401, 799, pytest.param(100_000, marks=pytest.mark.slow)])
def test_any_number_of_values_fits(count: int) -> None:
    found = cells({"k": "int"}, [[str(each)] for each in range(count)])
    assert count / MOST_CELLS / 2 <= len(found.cells) <= MOST_CELLS
    assert sum(each.partitions for each in found.cells) == count
    assert found.cells[0].first == "k=0"
    assert found.cells[-1].last == f"k={count - 1}"
    ends = [(int(each.first[2:]), int(each.last[2:])) for each in found.cells]
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ends))


def test_numbers_are_in_their_order_and_nulls_at_the_end() -> None:
    values = [["10"], ["9"], ["-1"], ["__HIVE_DEFAULT_PARTITION__"]]
    assert [each.label for each in cells({"k": "int"}, values).cells] == ["-1", "9", "10", "__HIVE_DEFAULT_PARTITION__"]
    assert [each.label for each in cells({"k": "string"}, values[:2]).cells] == ["10", "9"]


def test_a_text_that_only_looks_like_a_day_does_not_hurt() -> None:
    assert len(cells({"k": "string"}, [["2024-99-99"], ["2024-01-01"]]).cells) == 2


def test_a_table_without_partitions_yet_and_one_without_keys() -> None:
    assert cells({"k": "int"}, []).cells == ()
    with pytest.raises(NoSuchObject, match="has no partitions"):
        cells({}, [])


def test_a_range_the_wrong_way_round_selects_nothing() -> None:
    with pytest.raises(NoSuchObject, match="is selected"):
        cells({"k": "int"}, [["1"], ["2"]], Selection("k=2", "k=1"))


def test_a_cursor_to_a_partition_that_is_gone() -> None:
    one: Any = Partitions({"k": "int"}, [["1"], ["2"], ["3"]])
    first = partition_list(one, read_partitions(one, "d.t", Selection()), limit=1)
    later: Any = Partitions({"k": "int"}, [["2"], ["3"]])
    with pytest.raises(StatementError, match="the partition of the cursor is gone: k=1"):
        partition_list(later, read_partitions(later, "d.t", Selection()), after=first.next, limit=1)


def test_values_with_escaped_characters_are_shown_as_they_are() -> None:
    found = cells({"k": "string", "l": "string"}, [["a/b=c", "100%"], ["a/b=c", "x"]])
    assert [(each.group, each.label) for each in found.cells] == [("a/b=c", "100%"), ("a/b=c", "x")]
