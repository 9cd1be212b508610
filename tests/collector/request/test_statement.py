"""What a caller asks for, as a call and as the text of a statement."""

from collections.abc import Mapping

import pytest

from hmstats.collector.request.statement import Statement, statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName

T = TableName("hive", "db", "t")


def test_names_are_lower_case_and_columns_named_once() -> None:
    wanted = statement("Db.T", columns=["B", " a", "b"], partitions={"Year": "1994", "Month": None})
    assert wanted == Statement(T, ("b", "a"), ({"year": "1994", "month": None},))


def test_a_bare_name_is_of_the_current_database() -> None:
    assert statement("t", database="now").table == TableName("hive", "now", "t")
    assert statement("ANALYZE TABLE t COMPUTE STATISTICS", database="now").table == TableName("hive", "now", "t")


def test_a_column_must_have_a_name() -> None:
    with pytest.raises(StatementError, match="every column must have a name"):
        statement("t", columns=["a", ""])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ANALYZE TABLE db.t COMPUTE STATISTICS", Statement(T, ())),
        ("analyze table Db.T compute statistics noscan;", Statement(T, (), noscan=True)),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS", Statement(T)),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR ALL COLUMNS", Statement(T)),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS a, `B c`, A", Statement(T, ("a", "b c"))),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS `for`", Statement(T, ("for",))),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS date, order", Statement(T, ("date", "order"))),
        ("\n ANALYZE\n TABLE db.t -- all of it\n COMPUTE STATISTICS", Statement(T, ())),
        (
            "ANALYZE TABLE `db`.`t` PARTITION(Ds) COMPUTE STATISTICS NOSCAN",
            Statement(T, (), ({"ds": None},), noscan=True),
        ),
        ("ANALYZE TABLE spark_catalog.db.t COMPUTE STATISTICS", Statement(T, ())),
        ("ANALYZE TABLE lake.db.t COMPUTE STATISTICS", Statement(TableName("lake", "db", "t"), ())),
    ],
)
def test_the_forms_of_the_statement(text: str, expected: Statement) -> None:
    assert statement(text) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("ds='2008-04-09', hr=11", {"ds": "2008-04-09", "hr": "11"}),
        ("ds='2008-04-09', hr", {"ds": "2008-04-09", "hr": None}),
        ("ds, hr", {"ds": None, "hr": None}),
        ("hr=-1", {"hr": "-1"}),
        ("hr=11L", {"hr": "11"}),
        ("hr=1.50", {"hr": "1.50"}),
        ("hr=TRUE", {"hr": "true"}),
        ("ds=DATE '2008-04-09'", {"ds": "2008-04-09"}),
        ("ds=CAST('2008-04-09' AS DATE)", {"ds": "2008-04-09"}),
        ("ds=TIMESTAMP '2008-04-09 01:02:03'", {"ds": "2008-04-09 01:02:03"}),
        ("ds=NULL", {"ds": "__HIVE_DEFAULT_PARTITION__"}),
        ('`a b`="it\'s"', {"a b": "it's"}),
        (r"ds='a\'b/c=%2F\\'", {"ds": r"a'b/c=%2F" + "\\"}),
    ],
)
def test_partition_specs(spec: str, expected: Mapping[str, str | None]) -> None:
    assert statement(f"ANALYZE TABLE db.t PARTITION({spec}) COMPUTE STATISTICS").partitions == (expected,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ANALYZE TABLE db.t x COMPUTE STATISTICS", r"at 'x' \(line 1, column 20\); the form is .* no aliases"),
        ("ANALYZE TABLE db.t AS x COMPUTE STATISTICS", "cannot be read at 'AS'.* no aliases"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS a AS b", "cannot be read at 'AS'"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS t.a", r"cannot be read at '\.'"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR COLUMNS (a, b)", "takes the names of columns, found"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR", "cannot be read at its end; the form is ANALYZE TABLE"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS for ;", "cannot be read at its end"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR TABLE", "cannot be read at 'TABLE'"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS CACHE METADATA", "cannot be read at 'METADATA'"),
        ("ANALYZE TABLE db.t", "is not supported; the form is ANALYZE TABLE"),
        ("ANALYZE TABLE db.t DELETE STATISTICS", "is not supported"),
        ("ANALYZE TABLE db.t COMPUTE DELTA STATISTICS", "is not supported"),
        ("ANALYZE TABLES IN db COMPUTE STATISTICS", "is not supported"),
        ("ANALYZE TABLE db.t COMPUTE STATISTICS; DROP TABLE db.t", "cannot be read"),
        ("ANALYZE TABLE 'db", "cannot be read"),
        ("ANALYZE TABLE a.b.c.d COMPUTE STATISTICS", r"must be named as DB\.TABLE, found a\.b\.c\.d"),
        ("ANALYZE TABLE db.t PARTITION() COMPUTE STATISTICS", "cannot be read"),
        ("ANALYZE TABLE db.t PARTITION(ds > '2008') COMPUTE STATISTICS", r"takes keys and their values .* found ds > "),
        ("ANALYZE TABLE db.t PARTITION(t.ds) COMPUTE STATISTICS", r"takes keys and their values .* found t\.ds"),
        ("ANALYZE TABLE db.t PARTITION(ds='a', DS='b') COMPUTE STATISTICS", "key DS stands twice"),
        ("ANALYZE TABLE db.t PARTITION(ds=current_date()) COMPUTE STATISTICS", "must be a literal, found CURRENT_DATE"),
    ],
)
def test_a_statement_that_is_not_supported_is_one_sentence(
    text: str, sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StatementError, match=sentence) as raised:
        statement(text)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_nothing_is_said_twice() -> None:
    with pytest.raises(StatementError, match="write them in the statement"):
        statement("ANALYZE TABLE t COMPUTE STATISTICS", columns=["a"])
    with pytest.raises(StatementError, match="noscan reads no data"):
        statement("t", columns=["a"], noscan=True)
    with pytest.raises(StatementError, match="by their names or by a filter, found both"):
        statement("t", partitions=["ds=1"], where="ds = '1'")


def test_partitions_are_named_as_the_metastore_names_them() -> None:
    found = statement("db.t", partitions=["Ds=a%2Fb/hr=1", "ds=c"]).partitions
    assert found == ({"ds": "a/b", "hr": "1"}, {"ds": "c"})


@pytest.mark.parametrize("name", ["", "ds", "=1", "ds=1/hr", "ds=1/"])
def test_a_text_that_is_no_name_of_a_partition(name: str) -> None:
    with pytest.raises(StatementError, match=f"partition '{name}' is not named KEY=VALUE/KEY=VALUE"):
        statement("db.t", partitions=[name])


def test_no_name_at_all_is_not_every_partition() -> None:
    with pytest.raises(StatementError, match="must be the names of at least one, found none"):
        statement("db.t", partitions=[])
