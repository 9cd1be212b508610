import pytest
from sqlalchemy import select

from hmstats.store.database.store import Store
from hmstats.store.statements.packed_bytes import pack, unpacked

EVERY_BYTE = bytes(range(256))


@pytest.mark.parametrize(
    "values",
    [
        [b"", None, EVERY_BYTE, b"\\x61", b"NULL", EVERY_BYTE, b"a"],
        [b"a" * 100_000, b"b", None, b"a" * 100_000],
        [None, None],
        [b"", b""],
        [],
    ],
)
def test_each_value_arrives_as_it_is(postgres_url: str, values: list[bytes | None]) -> None:
    store = Store.open(postgres_url)
    query = select(unpacked("c").label("value"))
    with store.read() as connection:
        found = connection.execute(query, pack("c", values)).scalars().all()
    store.close()
    assert [None if each is None else bytes(each) for each in found] == values


def test_equal_values_are_sent_once() -> None:
    once, twice = (sum(map(len, pack("c", [EVERY_BYTE] * number).values())) for number in (1, 2))
    assert twice - once < len(EVERY_BYTE) / 10
