"""Plans with long texts, such as pictures as literals, are read in time by their length. It took hours."""

import pytest

from hmstats.learning.spark.logical_plan import operations
from hmstats.learning.trino.explained import is_explained, queries
from hmstats.model.feedback.queries import Operation, Operator

LONG = 1_000_000
PLAN = """== Optimized Logical Plan ==
{}

== Physical Plan ==
"""
OF_ROWS = ", Statistics(sizeInBytes=1.0 KiB, rowCount=2.00E+4)"


def _operations(*nodes: str) -> list[Operation]:
    root = operations(PLAN.format("\n".join(each + OF_ROWS for each in nodes)))
    assert root is not None
    return list(root.walk())


@pytest.mark.parametrize("text", ["a" * LONG, "x#1 AS " * (LONG // 7), "x#1 AS y" * (LONG // 8)])
def test_a_long_literal_beside_a_renamed_column(text: str) -> None:
    filtered, _ = _operations(
        "Filter (cost#7 = 1)", f"+- Project [price#2 AS cost#7,{text}]", "   +- Relation shop.parts[price#2] parquet"
    )
    assert [(each.column, each.use.value) for each in filtered.uses] == [("price", "equality")]


def test_a_long_name_in_a_list_of_columns() -> None:
    filtered, _ = _operations("Filter (price#2 = 1)", f"+- Relation shop.parts[{'a' * LONG},price#2] parquet")
    assert [each.column for each in filtered.uses] == ["price"]


def test_very_many_conditions_on_one_column() -> None:
    condition = " AND ".join(["(price#2 = Brand#2)"] * (LONG // 20))
    filtered, _ = _operations(f"Filter {condition}", "+- Relation shop.parts[price#2] parquet")
    assert [each.column for each in filtered.uses] == ["price"]


def test_a_column_with_very_many_names_one_after_the_other() -> None:
    names = ",".join(f"x#{number} AS x#{number + 1}" for number in range(LONG // 20))
    condition = " AND ".join(f"(x#{number} = 1)" for number in range(1, LONG // 20))
    filtered, _ = _operations(f"Filter {condition}", f"+- Project [{names}]", "   +- Relation shop.parts[x#0] parquet")
    assert {each.column for each in filtered.uses} == {"x"}


def test_names_that_are_each_other_s() -> None:
    found = _operations("Filter (x#1 = 1)", "+- Project [x#1 AS x#2,x#2 AS x#1]", "   +- Relation shop.t[y#3] parquet")
    assert [each.uses for each in found if each.operator is Operator.FILTER] == [()]


def test_very_many_empty_lines_before_an_explained_query() -> None:
    assert list(queries("\n" * LONG, 0)) == []
    assert not is_explained(b"\n" * LONG)
    assert is_explained(b"\n\n  Trino version: 483\n")
