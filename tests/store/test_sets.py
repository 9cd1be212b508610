import pytest
from sqlalchemy import BigInteger, String, literal, select

from hmstats.store.engine import Store
from hmstats.store.sets import one_of

TEXTS = ["", "a", "A", "it's", 'qu"ote', "back\\slash", "ü\N{GRINNING FACE}", "{a,b}", "%s", "null", "x" * 100_000]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_one_of_those_that_equal_it(store: Store, text: str) -> None:
    source = select(literal(text).label("t")).subquery()
    others = [each for each in TEXTS if each != text]
    with store.read() as connection:
        for wanted, expected in ((TEXTS, [text]), (others, []), ([], [])):
            query = select(source.c.t).where(one_of(connection, source.c.t, wanted))
            assert connection.execute(query).scalars().all() == expected


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
