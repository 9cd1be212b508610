"""Column statistics as tuples: both ways, for every kind, and one column of a list of them."""

import pytest

from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Kind
from hmstats.model.statistics.flat_statistics import FlatColumns, column_statistics, flat

TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.LONG: "bigint",
    Kind.DOUBLE: "double",
    Kind.STRING: "varchar(9)",
    Kind.BINARY: "binary",
    Kind.DECIMAL: "decimal(9,2)",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}


@pytest.mark.parametrize("kind", Kind)
def test_a_tuple_says_what_the_statistics_say(kind: Kind) -> None:
    statistics = ColumnStatistics("c", TYPES[kind], DATA_CLASSES[kind](nulls=3))
    as_tuple = flat(statistics)
    assert as_tuple[:2] == ("c", TYPES[kind])
    assert column_statistics(as_tuple) == statistics


def test_one_column_of_many_keeps_what_is_known_of_it() -> None:
    many = FlatColumns(
        statistics=[("a", "int"), ("b", "int")], partitions=["", "p=1"], engines=["hive", "x"], analyzed_seconds=[1, 2]
    )
    assert many.only(1) == FlatColumns(
        statistics=[("b", "int")], partitions=["p=1"], engines=["x"], analyzed_seconds=[2]
    )
