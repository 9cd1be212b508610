"""Rows in PostgreSQL's binary form are the rows that the driver fetches."""

import pytest
from sqlalchemy import BigInteger, LargeBinary, String, Text, bindparam, column, literal, select, union_all
from sqlalchemy.exc import DBAPIError

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.statements import copied_rows

ROWS = [
    (1, "a", b"\x00\xff\x00"),
    (-(2**63), "ü\N{GRINNING FACE} 'quoted'\n%s", b""),
    (2**63 - 1, "", b"PGCOPY\n\xff\r\n\x00" + bytes(70_000)),
    (0, None, None),
]
_SOURCE = union_all(
    *(
        select(
            literal(number, BigInteger()).label("n"),
            literal(text, Text()).label("t"),
            literal(data, LargeBinary()).label("b"),
        )
        for number, text, data in ROWS
    )
).subquery()


def test_rows_of_all_kinds_come_as_they_are(store: Store) -> None:
    query = select(_SOURCE.c.n, _SOURCE.c.t, _SOURCE.c.b)
    with store.read() as connection:
        found = copied_rows.rows(connection, query, {})
        assert sorted(found, key=str) == sorted(map(tuple, connection.execute(query)), key=str) == sorted(ROWS, key=str)


def test_no_rows_and_bound_values(store: Store) -> None:
    wanted = bindparam("wanted", type_=Text())
    query = select(_SOURCE.c.n).where(_SOURCE.c.t == wanted)
    with store.read() as connection:
        assert copied_rows.rows(connection, query, {"wanted": "b"}) == []
        assert copied_rows.rows(connection, query, {"wanted": ROWS[1][1]}) == [(ROWS[1][0],)]
        with pytest.raises(MetaError, match="NUL"):
            copied_rows.rows(connection, query, {"wanted": "a\0"})


def test_an_error_of_the_database_is_sqlalchemys(store: Store) -> None:
    broken = select(column("nowhere", String()))
    with store.read() as connection, pytest.raises(DBAPIError, match="nowhere"):
        copied_rows.rows(connection, broken, {})
