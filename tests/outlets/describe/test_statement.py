"""DESCRIBE statements: what is read, and what is not."""

import pytest

from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.outlets.describe.statement import Describe, parse

TABLE = TableName("hive", "d b", "t")
NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("desc `d b`.T", Describe(TABLE)),
        ("DESCRIBE EXTENDED `d b`.t;", Describe(TABLE, extended=True)),
        ("DESCRIBE EXTENDED cat.db.t c PARTITION(k=\"v\")",
         Describe(TableName("cat", "db", "t"), "c", {"k": "v"}, extended=True)),
        ("DESCRIBE FORMATTED `d b`.t PARTITION (K='it\\'s', n=-1.5, x=NULL) C",
         Describe(TABLE, "C", {"k": "it's", "n": "-1.5", "x": NULL}, formatted=True)),
        ("DESCRIBE formatted", Describe(TableName("hive", "default", "formatted"))),
        ("describe t a1_b", Describe(TableName("hive", "default", "t"), "a1_b")),
        ("describe `a``b`", Describe(TableName("hive", "default", "a`b"))),
    ],
)  # fmt: skip
def test_what_a_statement_asks_for(text: str, expected: Describe) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "its end"),
        ("SELECT 1", "'SELECT'"),
        ("DESCRIBE a.", "its end"),
        ("DESCRIBE a.b.c.d", r"'\.'"),
        ("DESCRIBE t PARTITION", "its end"),
        ("DESCRIBE t PARTITION (k)", r"'\)'"),
        ("DESCRIBE t PARTITION (k=)", r"'\)'"),
        ("DESCRIBE t PARTITION (k=1", "its end"),
        ("DESCRIBE t 'c'", "'c'"),
        ("DESCRIBE t; DROP TABLE t", "'; DROP TABLE t'"),
    ],
)
def test_where_a_statement_cannot_be_read(text: str, place: str) -> None:
    with pytest.raises(StatementError, match=f"^the statement cannot be read at {place}; the form is DESCRIBE "):
        parse(text)
