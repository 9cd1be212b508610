"""Hive's types and the kinds of statistics that they have."""

import pytest

from hmstats.model.statistics.column_statistics import DATA_CLASSES, KINDS, Kind
from hmstats.model.statistics.column_types import accepts, base_type, kind_of


@pytest.mark.parametrize(
    ("column_type", "kind"),
    [
        ("bigint", Kind.LONG),
        ("TINYINT", Kind.LONG),
        ("float", Kind.DOUBLE),
        ("decimal(38,18)", Kind.DECIMAL),
        ("varchar(10)", Kind.STRING),
        ("char(3)", Kind.STRING),
        ("binary", Kind.BINARY),
        ("boolean", Kind.BOOLEAN),
        ("date", Kind.DATE),
        ("timestamp", Kind.TIMESTAMP),
        ("timestamp with local time zone", Kind.TIMESTAMP),
        ("array<int>", None),
        ("struct<a:int>", None),
        ("interval_day_time", None),
    ],
)
def test_every_type_has_its_kind_or_none(column_type: str, kind: Kind | None) -> None:
    assert kind_of(column_type) is kind


def test_a_timestamp_column_takes_the_longs_of_older_writers() -> None:
    assert accepts("timestamp", Kind.LONG)
    assert accepts("timestamp", Kind.TIMESTAMP)
    assert not accepts("bigint", Kind.TIMESTAMP)
    assert not accepts("string", Kind.LONG)
    assert not accepts("map<string,int>", Kind.STRING)


def test_a_type_loses_its_arguments() -> None:
    assert base_type(" Decimal(12,2)") == "decimal"
    assert base_type("array<decimal(1,0)>") == "array"


def test_every_kind_has_one_data_class() -> None:
    assert set(DATA_CLASSES) == set(Kind)
    assert {KINDS[cls] for cls in DATA_CLASSES.values()} == set(Kind)
