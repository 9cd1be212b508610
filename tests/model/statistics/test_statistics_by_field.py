from itertools import product
from typing import Any

import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Kind,
    LongStatistics,
    StatisticsSet,
)
from hmstats.model.statistics.flat_statistics import FIELDS
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField, combine

LONG, TEXT = KindOfColumn("l", "bigint", Kind.LONG), KindOfColumn("s", "string", Kind.STRING)
PLAIN = {kind: [field for field in FIELDS[kind] if field not in ("bit_vector", "histogram")] for kind in Kind}


def test_lists_by_field_say_what_sets_say() -> None:
    columns = [KindOfColumn("l", "bigint", Kind.LONG), KindOfColumn("b", "boolean", Kind.BOOLEAN)]
    groups = [
        FieldValues(Kind.LONG, [0, 2], {"low": (1, None), "nulls": [0, 2]}),
        FieldValues(Kind.BOOLEAN, [1, 3], {}),
    ]
    given = StatisticsByField(["p=1", "p=2"], "impala", columns, groups)
    unknown = ColumnStatistics("b", "boolean", BooleanStatistics())
    assert given.sets(7) == [
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=1, nulls=0)), unknown), "p=1", "impala", 7),
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(nulls=2)), unknown), "p=2", "impala", 7),
    ]
    assert {each.last_analyzed_seconds for each in given.sets()} == {None}
    assert given.size == 4


@st.composite
def writes(draw: st.DrawFn) -> StatisticsByField:
    """Of some partitions, each column with some of its fields, of which some are unknown."""
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True))
    alike: dict[tuple[Kind, tuple[str, ...]], list[tuple[int, list[Any]]]] = {}
    whole = draw(st.booleans())
    complete = FIELDS if draw(st.booleans()) else PLAIN
    for place, (_, column) in enumerate(product(names, (LONG, TEXT))):
        possible = complete[column.kind]
        fields = possible if whole else draw(st.lists(st.sampled_from(possible), unique=True))
        number = st.integers(0, 99)
        values = [draw(number if whole else st.none() | number) for _ in fields]
        alike.setdefault((column.kind, tuple(fields)), []).append((place, values))
    groups = [
        FieldValues(
            kind,
            [place for place, _ in found],
            {field: [values[number] for _, values in found] for number, field in enumerate(fields)},
        )
        for (kind, fields), found in alike.items()
    ]
    return StatisticsByField(names, "hive", [LONG, TEXT], groups)


def said(written: StatisticsByField) -> dict[tuple[str | None, str, str], Any]:
    """What is known of it by partition, column and field."""
    return {
        (each.partition, column.column, field): value
        for each in written.sets()
        for column in each.columns
        for field in FIELDS[column.kind]
        if (value := getattr(column.data, field)) is not None
    }


@given(st.lists(writes(), min_size=2, max_size=5))
def test_writes_that_are_joined_leave_what_they_leave_one_after_the_other(several: list[StatisticsByField]) -> None:
    together = combine(several)
    target(float(together is not None))
    if together is None:
        return
    assert len({*together.partitions}) == len(together.partitions)
    assert all([*group.places] == sorted(group.places) for group in together.groups)
    left: dict[tuple[str | None, str, str], Any] = {}
    for each in several:
        left |= said(each)
    assert said(together) == left


def longs(partition: str, **values: int | bytes | None) -> StatisticsByField:
    group = FieldValues(Kind.LONG, [0], {field: [value] for field, value in values.items()})
    return StatisticsByField([partition], "hive", [LONG], [group])


def test_the_later_of_two_of_a_partition_replaces_the_earlier_where_it_says_all() -> None:
    first, second = longs("a", low=1, high=2, nulls=0, ndv=2), longs("a", low=3, high=4, nulls=1, ndv=1)
    other = longs("b", ndv=1)
    assert combine([first, second]) == second
    together = combine([first, other, longs("c", ndv=2)])
    assert together is not None
    assert together.partitions == ["a", "b", "c"]
    assert combine([first, other, second]) is None  # what b lacks would not matter, but is not looked at one by one
    assert combine([first, longs("a", low=3, high=4, nulls=None, ndv=1)]) is None
    assert combine([first, longs("a", low=3, high=4, ndv=1)]) is None


def test_what_says_nothing_of_a_sketch_does_not_replace_it() -> None:
    plain, sketched = (
        longs("a", low=1, high=2, nulls=0, ndv=2),
        longs("a", low=1, high=2, nulls=0, ndv=2, bit_vector=b"HLL"),
    )
    whole = longs("a", low=1, high=2, nulls=0, ndv=2, bit_vector=b"HLL", histogram=b"k")
    assert combine([sketched, plain]) is None
    assert combine([sketched, whole]) == combine([plain, whole]) == whole
    assert combine([plain, sketched]) == combine([sketched, sketched]) == sketched
    assert combine([whole, sketched]) is None


@pytest.mark.parametrize(
    "other",
    [
        StatisticsByField(["b"], "impala", [LONG], []),
        StatisticsByField(["b"], "hive", [TEXT], []),
        StatisticsByField(["b"], "hive", [LONG._replace(column_type="int")], []),
    ],
)
def test_writes_of_other_engines_and_columns_are_not_joined(other: StatisticsByField) -> None:
    assert combine([longs("a", ndv=1), other]) is None
