from typing import Any

import pytest
from sqlalchemy import BigInteger, Boolean, Double, LargeBinary, String, Text, column, func, literal, select
from sqlalchemy.types import TypeEngine

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.statements import value_sets
from hmstats.store.statements.value_sets import array_of, array_text, bound, one_of, one_of_bound

TEXTS = ["", "a", "A", "it's", 'qu"ote', "back\\slash", "ü\N{GRINNING FACE}", "{a,b}", "%s", "null", "x" * 100_000]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_one_of_those_that_equal_it(store: Store, text: str) -> None:
    source = select(literal(text).label("t")).subquery()
    others = [each for each in TEXTS if each != text]
    with store.read() as connection:
        for wanted, expected in ((TEXTS, [text]), (others, []), ([], [])):
            query = select(source.c.t).where(one_of(connection, source.c.t, wanted))
            assert connection.execute(query).scalars().all() == expected


def test_a_kept_statement_takes_values_at_each_time(store: Store) -> None:
    with store.read() as connection:
        source = select(literal(TEXTS[3]).label("t")).subquery()
        kept = select(source.c.t).where(one_of_bound(connection.dialect.name, source.c.t, "wanted"))
        for wanted, expected in ((TEXTS, [TEXTS[3]]), (TEXTS[:3], []), ([], [])):
            assert connection.execute(kept, {"wanted": bound(connection, wanted)}).scalars().all() == expected


def test_no_text_is_cut_to_the_length_of_the_column(store: Store) -> None:
    short = select(literal("abc", String(3)).label("t")).subquery()
    with store.read() as connection:
        assert connection.execute(select(short).where(one_of(connection, short.c.t, ["abcd"]))).all() == []


def test_sets_of_any_size(store: Store) -> None:
    wanted = [*range(0, 200_000, 2), 2**63 - 1, -(2**63)]
    source = select(literal(199_998, BigInteger).label("n")).subquery()
    with store.read() as connection:
        found = select(source.c.n).where(one_of(connection, source.c.n, wanted))
        assert connection.execute(found).scalars().all() == [199_998]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (BigInteger(), [1, None, -(2**63), 2**63 - 1]),
        (Double(), [1.5, None, float("inf"), 5e-324, -0.0, 1e300]),
        (Boolean(), [True, None, False]),
        (Text(), [*TEXTS, None, "NULL", "None", "a\tb\nc\r\x01\x7f", " lead", "\\\\", '"', "\\x00"]),
        (String(2), ["longer than two", "NULL", None]),
        (LargeBinary(), [b"", None, bytes(range(256)), b"\\x61", b"NULL"]),
        (Text(), [None, None]),
        (BigInteger(), []),
    ],
)
def test_an_array_brings_each_value_as_it_is(postgres_url: str, kind: TypeEngine[Any], values: list[Any]) -> None:
    store = Store.open(postgres_url)
    query = select(func.unnest(array_of(column("c", kind), values)).label("value"))
    with store.read() as connection:
        found = [bytes(each) if isinstance(each, memoryview) else each for each in connection.execute(query).scalars()]
    store.close()
    assert found == values
    assert [str(each) for each in found] == [str(each) for each in values]


def test_a_set_cannot_bring_a_nul(store: Store) -> None:
    with store.read() as connection, pytest.raises(MetaError, match="NUL"):
        connection.execute(select(one_of(connection, column("c", Text()), ["a", "b\0c"])))


def test_arrays_of_long_texts_are_not_kept() -> None:
    value_sets._listed_texts.cache_clear()
    for length, kept in ((5_000, 1), (5_001, 1), (10, 2)):
        assert array_text(["a" * length, "b" * length]) == f'{{"{"a" * length}","{"b" * length}"}}'
        assert value_sets._listed_texts.cache_info().currsize == kept
