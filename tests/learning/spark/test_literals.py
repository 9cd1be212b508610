"""Literals that look like attributes: in a plan they have no quotes."""

import pytest

from hmstats.learning.spark.logical_plan import operations
from hmstats.model.feedback.queries import Operation, Operator

COLUMNS = "part#1L,brand#2,price#3,other brand#4"
PLAN = """== Optimized Logical Plan ==
Project [price#3], Statistics(sizeInBytes=1.0 KiB, rowCount=2.00E+4)
+- Filter ({}), Statistics(sizeInBytes=1.0 KiB, rowCount=2.00E+4)
   +- Relation spark_catalog.shop.parts[{}] parquet, Statistics(sizeInBytes=1.0 KiB, rowCount=4.00E+4)

== Physical Plan ==
"""


def filter_of(condition: str) -> Operation:
    root = operations(PLAN.format(condition, COLUMNS))
    assert root is not None
    (found,) = (each for each in root.walk() if each.operator is Operator.FILTER)
    return found


@pytest.mark.parametrize(
    ("condition", "uses"),
    [
        ("isnotnull(brand#2) AND (brand#2 = Brand#12)", [("brand", "equality")]),
        ("brand#2 = Clerk#000000042", [("brand", "equality")]),
        ("brand#2 = Brand#3", [("brand", "equality")]),
        ("Brand#2 = Brand#34", [("brand", "equality")]),
        ("brand#2 IN (Brand#12,Brand#3,Brand#1)", [("brand", "equality")]),
        ("other brand#4 = Brand#5", [("other brand", "equality")]),
        ("(price#3 > 4.0) AND (brand#2 = A#1)", [("brand", "equality"), ("price", "range")]),
    ],
)
def test_a_literal_with_a_number_is_no_column(condition: str, uses: list[tuple[str, str]]) -> None:
    found = filter_of(condition)
    assert sorted((each.column, each.use.value) for each in found.uses) == uses
