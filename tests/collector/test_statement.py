"""What a caller asks for."""

import pytest

from hmstats.collector.statement import Statement, statement
from hmstats.errors import StatementError
from hmstats.model.catalog import TableName


def test_names_are_lower_case_and_columns_named_once() -> None:
    wanted = statement("Db.T", columns=["B", " a", "b"], partitions={"Year": "1994", "Month": None})
    assert wanted == Statement(TableName("hive", "db", "t"), ("b", "a"), {"year": "1994", "month": None})


def test_a_bare_name_is_of_the_current_database() -> None:
    assert statement("t", database="now").table == TableName("hive", "now", "t")


def test_a_column_must_have_a_name() -> None:
    with pytest.raises(StatementError, match="every column must have a name"):
        statement("t", columns=["a", ""])
