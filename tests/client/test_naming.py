"""Names of tables as people type them."""

import pytest

from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("db.T", TableName("hive", "db", "t")),
        ("t", TableName("hive", "mine", "t")),
        ("`Db`.`t`", TableName("hive", "db", "t")),
        ("`a.b` . `c``d`", TableName("hive", "a.b", "c`d")),
        ("Lake.db.t", TableName("lake", "db", "t")),
        ("spark_catalog.db.t", TableName("hive", "db", "t")),
    ],
)
def test_a_table_is_named(text: str, expected: TableName) -> None:
    assert named_table(text, "mine") == expected


@pytest.mark.parametrize("text", ["", ".", "a.", ".b", "a..b", "a b", "a`b`", "a.b.c.d", "`a"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(StatementError, match=r"must be named as DB\.TABLE, found"):
        named_table(text)
