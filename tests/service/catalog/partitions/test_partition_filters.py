"""Partition filters against a model in Python: whatever the filter, the database and the memory find what it finds."""

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.partitions.partition_filter import AllOf, Among, AnyOf, Comparison, Like, Not, PartitionFilter
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.filter_text import MOST_BRACKETS, MOST_CHARACTERS, MOST_CONDITIONS, MOST_DEPTH, parse
from hmstats.service.catalog.partitions.known_partitions import KnownPartitions
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

NAME = TableName("hive", "default", "t")
KEYS = ("n", "s")
LONG = "9" * 60
"""A value of more digits than any number of Hive has, which a client may store all the same."""
NOT_NUMBERS = ("__HIVE_DEFAULT_PARTITION__", "1-2", "--", "-", "2020-01-01", "7x", "+7", " 7")
NUMBERS = ("-3", "0", "7", "10", "007", LONG, "-" + LONG, *NOT_NUMBERS)
TEXTS = ("eu", "us", "a%b", "a_b", "EU", "it's", 'qu"ote', "10")

NUMBER = st.sampled_from([-3, 0, 7, 8, 10])
TEXT = st.sampled_from([*TEXTS, "zz"])
OPERATOR = st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">="])


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


CONDITIONS = st.one_of(
    st.builds("n {} {}".format, OPERATOR, NUMBER),
    st.builds("{} {} n".format, NUMBER, OPERATOR),
    st.builds("s {} {}".format, OPERATOR, TEXT.map(quoted)),
    st.builds("s like {}".format, st.sampled_from(["e.*", ".*b", "a%b", "a.b", "a_b", "us", ".*"]).map(quoted)),
    st.builds("n in ({}, {})".format, NUMBER, NUMBER),
    st.builds("s not in ({}, {})".format, TEXT.map(quoted), TEXT.map(quoted)),
    st.builds("n between {} and {}".format, NUMBER, NUMBER),
    st.builds(f"n {{}} '{NULL_PARTITION_VALUE}'".format, OPERATOR),
    st.builds(f"n in ({{}}, '{NULL_PARTITION_VALUE}')".format, NUMBER),
)
FILTERS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=5,
)


@pytest.fixture
def partitions(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Partitions:
    """A table with a partition for each pair of values."""
    warehouse = Warehouse(str(tmp_path_factory.mktemp("warehouse")))
    Databases(store, warehouse).ensure_default()
    keys = (Column("n", "int"), Column("s", "string"))
    Tables(store, warehouse).create(
        Table(
            name=NAME, storage=Storage(columns=(Column("c", "int"),)), partition_keys=keys, table_type="EXTERNAL_TABLE"
        )
    )
    new = [Partition(values=pair, storage=Storage()) for pair in itertools.product(NUMBERS, TEXTS)]
    PartitionChanges(store, warehouse).add(NAME, new)
    return Partitions(store)


@pytest.fixture
def known(store: Store, partitions: Partitions, statements: StatementCounter) -> Partitions:
    """The table's partitions in memory, with the values of their keys."""
    return in_memory(store, statements)


def in_memory(store: Store, statements: StatementCounter) -> Partitions:
    """Partitions that finds those of the table in memory."""
    known = Partitions(store, KnownPartitions(store, BoundedMemory(2**24)))
    for _ in range(3):  # partitions are known after the first question, names after the second, values after the third
        known.filtered(NAME, "s != ''")
    with statements() as sent:
        known.filtered(NAME, "s != ''")
    assert len(sent) == 1  # the table with its version
    return known


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=FILTERS)
def test_database_and_memory_find_what_the_model_finds(partitions: Partitions, known: Partitions, text: str) -> None:
    wanted = parse(text, KEYS)
    expected = {pair for pair in itertools.product(NUMBERS, TEXTS) if holds(wanted, dict(zip(KEYS, pair, strict=True)))}
    for found in (partitions.filtered(NAME, text), known.filtered(NAME, text)):
        assert {each.values for each in found.partitions.values()} == expected
        assert list(found.partitions) == sorted(found.partitions)
    assert partitions.count(NAME, text) == len(expected)
    assert list(known.filtered(NAME, text, 5).partitions) == list(found.partitions)[:5]


def test_an_empty_filter_wants_every_partition(partitions: Partitions) -> None:
    assert len(partitions.filtered(NAME, "").partitions) == len(NUMBERS) * len(TEXTS)
    assert len(partitions.filtered(NAME, "  ", 3).partitions) == 3


def test_a_number_is_not_compared_with_a_text(partitions: Partitions, known: Partitions) -> None:
    for each in (partitions, known):
        with pytest.raises(MetaError, match="partition key n is a number, found 'x'"):
            each.filtered(NAME, "n = 'x'")
        with pytest.raises(MetaError, match="partition key n is a number: like needs a text"):
            each.filtered(NAME, "n like '1.*'")


def holds(wanted: PartitionFilter, values: dict[str, str]) -> bool:
    return _truth(wanted, values) is True


def _truth(wanted: PartitionFilter, values: dict[str, str]) -> bool | None:
    """SQL's three-valued truth: a number key that is no number is unknown, unless it is compared with a null's name."""
    match wanted:
        case AllOf(parts):
            truths = [_truth(part, values) for part in parts]
            return False if False in truths else None if None in truths else True
        case AnyOf(parts):
            truths = [_truth(part, values) for part in parts]
            return True if True in truths else None if None in truths else False
        case Not(inner):
            truth = _truth(inner, values)
            return None if truth is None else not truth
        case Like(key, pattern):
            return _like(values[key], pattern)
        case Among(key, listed):
            return _truth(AnyOf(tuple(Comparison(key, "=", each) for each in listed)), values)
        case Comparison(key, operator, value):
            own = values[key] if value == NULL_PARTITION_VALUE else _value(key, values)
            return None if own is None else _compare(own, operator, value)


def _value(key: str, values: dict[str, str]) -> int | str | None:
    if key == "s":
        return values[key]
    return None if values[key] in NOT_NUMBERS else int(values[key])


def _compare(own: int | str, operator: str, value: int | str) -> bool:
    sign = (own > value) - (own < value)  # type: ignore[operator]
    return {"=": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def _like(text: str, pattern: str) -> bool:
    import fnmatch

    escaped = "".join(
        f"[{c}]" if c in "*?[" else c
        for c in pattern.replace(".*", "\0").replace("%", "\0").replace(".", "\1").replace("_", "\1")
    )
    return fnmatch.fnmatchcase(text, escaped.replace("\0", "*").replace("\1", "?"))


@pytest.mark.parametrize("value", ["", "__HIVE_DEFAULT_PARTITION__", "a/b", "a=b", "%41", "x\ny", " x ", "\x01"])
def test_each_question_about_an_odd_value_has_one_answer(store: Store, tmp_path: Path, value: str) -> None:
    """An empty text has the name of a null."""
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    table = Table(name=NAME, storage=Storage(columns=(Column("c", "int"),)), partition_keys=(Column("s", "string"),))
    Tables(store, warehouse).create(table)
    PartitionChanges(store, warehouse).add(
        NAME, [Partition(values=(each,), storage=Storage()) for each in (value, "A")]
    )
    known = Partitions(store, KnownPartitions(store, BoundedMemory(2**20)))
    for operator in ("=", "!=", "<", ">="):
        for other in (value, "A", "__HIVE_DEFAULT_PARTITION__", ""):
            text = f's {operator} "{other}"'
            expected = list(Partitions(store).filtered(NAME, text).partitions)
            assert [list(known.filtered(NAME, text).partitions) for _ in range(4)] == [expected] * 4


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"%\_%", ["a_b"]),
        (r"%\%", ["50%"]),
        (r"c\\_", [r"c\d"]),
        ("___", ["50%", "a_b", "abc", r"c\d"]),
        (r"a\.b", []),
        (r"%\\", ["e\\"]),
    ],
)
def test_a_backslash_in_a_pattern(
    store: Store, tmp_path: Path, statements: StatementCounter, pattern: str, texts: list[str]
) -> None:
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    table = Table(name=NAME, storage=Storage(columns=(Column("c", "int"),)), partition_keys=(Column("s", "string"),))
    Tables(store, warehouse).create(table)
    new = [Partition(values=(text,), storage=Storage()) for text in ("abc", "a_b", "50%", r"c\d", "e\\")]
    PartitionChanges(store, warehouse).add(NAME, new)
    for partitions in (Partitions(store), in_memory(store, statements)):
        found = partitions.filtered(NAME, f"s like '{pattern}'").partitions.values()
        assert sorted(each.values[0] for each in found) == texts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("d in ('2020-01-05', '2020-02-30', '')", ["2020-01-05", "2020-02-30"]),
        ("d = 2020-01-05 or d = date '2021-12-31'", ["2020-01-05", "2021-12-31"]),
        ("d not in ('2020-01-05')", ["2020-02-30", "2021-12-31"]),
        ("d in ('2020-01-05', '__HIVE_DEFAULT_PARTITION__')", ["2020-01-05", "__HIVE_DEFAULT_PARTITION__"]),
        ("d = 2021-12-31 or d < 2020-01-06", ["2020-01-05", "2021-12-31"]),
    ],
)
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_listed_dates(store: Store, tmp_path: Path, kind: str, text: str, found: list[str]) -> None:
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    keys = (Column("d", kind),)
    Tables(store, warehouse).create(
        Table(name=NAME, storage=Storage(columns=(Column("c", "int"),)), partition_keys=keys)
    )
    dates = ("2020-01-05", "2020-02-30", "2021-12-31", "__HIVE_DEFAULT_PARTITION__")
    PartitionChanges(store, warehouse).add(NAME, [Partition(values=(each,), storage=Storage()) for each in dates])
    known = Partitions(store, KnownPartitions(store, BoundedMemory(2**20)))
    for partitions in (Partitions(store), *[known] * 4):
        assert [each.values[0] for each in partitions.filtered(NAME, text).partitions.values()] == found
    assert known.count(NAME, text) == len(found)


@pytest.fixture
def few(store: Store, tmp_path: Path) -> Partitions:
    """A table of two partitions, n=1 and n=2."""
    warehouse = Warehouse(str(tmp_path))
    Databases(store, warehouse).ensure_default()
    keys = (Column("n", "bigint"), Column("s", "string"))
    Tables(store, warehouse).create(
        Table(name=NAME, storage=Storage(columns=(Column("c", "int"),)), partition_keys=keys)
    )
    new = [Partition(values=(value, "x"), storage=Storage()) for value in ("1", "2")]
    PartitionChanges(store, warehouse).add(NAME, new)
    return Partitions(store)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        " or ".join(f"n = {number}" for number in range(2, 2_000)),
        " or ".join(f"n < {number}" for number in range(-1_990, 2)) + " or n > 1",
        "(" * MOST_BRACKETS + "n = 2" + ")" * MOST_BRACKETS,
        "not " * 10_000 + "n = 2",
        "(" * 1_900 + "n = 2" + " or n = 5)" * 1_900,
        "(" * 1_900 + "n = 2" + " and n < 5)" * 1_900,
        f"n in ({', '.join(map(str, range(2, 15_000)))})",
        f"s like '{'%' * 3_000}' and n not in (1)",
        f"s != '{'(' * 20_000}' and n = 2",
        "not (s = 'y' or " * 15 + "n = 1" + ")" * 15,
    ],
    ids=[
        "equal",
        "ordered",
        "brackets",
        "nots",
        "nested or",
        "nested and",
        "listed",
        "like",
        "brackets in a text",
        "deep",
    ],
)
def test_a_long_filter_is_answered(few: Partitions, text: str) -> None:
    assert [each.values[0] for each in few.filtered(NAME, text).partitions.values()] == ["2"]
    assert few.count(NAME, text) == 1


def test_sql_of_long_filters_is_not_kept(store: Store, few: Partitions) -> None:
    def kept() -> int:
        with store.read() as connection:
            return len(connection.engine._compiled_cache or ())

    few.count(NAME, "n < 1")
    before = kept()
    for length in (200, 300, 400):
        few.count(NAME, " or ".join(["n < 1"] * length))
        few.count(NAME, " or ".join(["(n < 1 and n > 2)"] * (length // 3)))
    assert kept() == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("s = '" + "x" * MOST_CHARACTERS, f"a filter may have {MOST_CHARACTERS} characters, found"),
        (" or ".join(["n < 3"] * (MOST_CONDITIONS + 1)), f"a filter may have {MOST_CONDITIONS} conditions, found more"),
        ("not (s = 'y' and " * 70 + "n = 1" + ")" * 70, f"may be nested {MOST_DEPTH} deep"),
        ("(" * 10_001, f"a filter may open {MOST_BRACKETS} brackets, found 10001"),
        ("`a'` = 1 or " + "(" * 20_000 + "`'`", f"a filter may open {MOST_BRACKETS} brackets, found 20000"),
        (f"n = {LONG}", "a number in a filter must have 64 bits, found one of 60 characters"),
        (f"n = {'9' * 5_000}", "a number in a filter must have 64 bits, found one of 5000 characters"),
        (f"n = '{LONG}'", "a number must fit in 64 bits"),
        (f"n = '{'9' * 5_000}'", "partition key n is a number, found"),
        (f"s like '{'%a' * 3_000}'", "a pattern may have 4000 characters, found 6000"),
    ],
)
def test_a_filter_beyond_a_limit_is_refused_with_a_sentence(few: Partitions, text: str, sentence: str) -> None:
    with pytest.raises(MetaError, match=sentence):
        few.filtered(NAME, text)
