"""Hive's filter language: what it says, and what it does not."""

import pytest

from hmstats.errors import MetaError
from hmstats.model.partitions.partition_filter import AllOf, Among, AnyOf, Comparison, Like, Not, PartitionFilter
from hmstats.service.catalog.filter_text import parse

KEYS = ["year", "region", "day"]
YEAR = Comparison("year", "=", 1994)
EU = Comparison("region", "=", "eu")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year = 1994", YEAR),
        ("1994 < year", Comparison("year", ">", 1994)),
        ("YEAR=-5", Comparison("year", "=", -5)),
        ("`year` <> 1", Comparison("year", "!=", 1)),
        ("region = 'eu'", EU),
        ('region = "a\\"b"', Comparison("region", "=", 'a"b')),
        ("region = 'it\\'s'", Comparison("region", "=", "it's")),
        ("region = 'and'", Comparison("region", "=", "and")),
        ('region like "eu.*"', Like("region", "eu.*")),
        ("region NOT LIKE 'x'", Not(Like("region", "x"))),
        (r"region like 'it\'s 5\% \\'", Like("region", r"it's 5\% \\")),
        ("day = 2024-01-31", Comparison("day", "=", "2024-01-31")),
        ("day >= date '2024-01-31'", Comparison("day", ">=", "2024-01-31")),
        ("year in (1, 2,3)", Among("year", (1, 2, 3))),
        ("not year in (1)", Not(Among("year", (1,)))),
        ("year between 1 and 2", AllOf((Comparison("year", ">=", 1), Comparison("year", "<=", 2)))),
        ("year = 1994 and region = 'eu' or not year = 1994", AnyOf((AllOf((YEAR, EU)), Not(YEAR)))),
        ("year = 1994 and (region = 'eu' or year = 1994)", AllOf((YEAR, AnyOf((EU, YEAR))))),
        ("((year=1994))", YEAR),
        ("(year) = 1994", YEAR),
        ("((year) in (1, 2))", Among("year", (1, 2))),
        ("(struct(year, region)) in (const struct(1994, 'eu'))", AnyOf((AllOf((YEAR, EU)),))),
        (
            "(struct(region,year)) not in (struct('eu',1994), struct('eu',1994))",
            Not(AnyOf((AllOf((EU, YEAR)), AllOf((EU, YEAR))))),
        ),
    ],
)
def test_a_filter_means_what_it_says(text: str, expected: PartitionFilter) -> None:
    assert parse(text, KEYS) == expected


@pytest.mark.parametrize("text", ["year", "year =", "year = 1994x", "year in ()", "= 1", "year = 1 or", "(year = 1"])
def test_a_text_that_makes_no_sense_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(MetaError, match="Error parsing partition filter at character"):
        parse(text, KEYS)


def test_keys_together_need_as_many_values() -> None:
    with pytest.raises(MetaError, match="2 keys must be compared with as many values, found 1"):
        parse("(struct(year, region)) in (struct(1))", KEYS)


def test_a_key_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(
        MetaError, match="filter: <month> is not a partitioning key for the table, expected one of year, region, day"
    ):
        parse("month = 1", KEYS)
