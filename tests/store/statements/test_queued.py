from typing import Any

import pytest
from sqlalchemy import exists, select
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.schema import CDS, COLUMNS_V2, NEXT_WRITE_ID
from hmstats.store.statements import queued
from hmstats.store.unit.unit import Unit


def columns(store: Store) -> list[tuple[int, int, str, str | None]]:
    c = COLUMNS_V2.c
    with store.read() as connection:
        query = select(c.CD_ID, c.INTEGER_IDX, c.COLUMN_NAME, c.COMMENT).order_by(c.CD_ID, c.INTEGER_IDX)
        return [tuple(row) for row in connection.execute(query)]


def fill(unit: Unit) -> None:
    queued.insert(unit, CDS, {"CD_ID": range(1, 4)})
    queued.insert(
        unit,
        COLUMNS_V2,
        {
            "CD_ID": [1, 1, 2, 3],
            "INTEGER_IDX": [0, 1, 0, 0],
            "COLUMN_NAME": ['a"b', "back\\slash {%s}", "ü;\n", "x"],
            "TYPE_NAME": ["int"] * 4,
            "COMMENT": [None, "", "NULL", None],
        },
    )


def test_rows_come_back_as_they_were_given(store: Store) -> None:
    store.write(fill)
    assert columns(store) == [
        (1, 0, 'a"b', None),
        (1, 1, "back\\slash {%s}", ""),
        (2, 0, "ü;\n", "NULL"),
        (3, 0, "x", None),
    ]


def test_ten_thousand_rows_and_more(store: Store) -> None:
    ids = range(1, 10_002)
    store.write(lambda unit: queued.insert(unit, CDS, {"CD_ID": ids}))
    with store.read() as connection:
        assert set(connection.execute(select(CDS.c.CD_ID)).scalars()) == set(ids)


def test_deletes_take_sets_but_for_what_stays(store: Store) -> None:
    store.write(fill)

    def some(unit: Unit) -> None:
        queued.delete(unit, COLUMNS_V2.c.CD_ID, [1])
        queued.delete(unit, COLUMNS_V2.c.CD_ID, [])
        queued.delete(unit, CDS.c.CD_ID, [1, 2], unless=exists().where(COLUMNS_V2.c.CD_ID == CDS.c.CD_ID))

    store.write(some)
    assert columns(store) == [(2, 0, "ü;\n", "NULL"), (3, 0, "x", None)]
    with store.read() as connection:
        assert set(connection.execute(select(CDS.c.CD_ID)).scalars()) == {2, 3}


def test_deletes_take_rows_with_values(store: Store) -> None:
    taken: dict[str, list[Any]] = {"NWI_DATABASE": ["d", "d"], "NWI_TABLE": ["t", "it's 50%"], "NWI_NEXT": [1, 2]}
    store.write(lambda unit: queued.insert(unit, NEXT_WRITE_ID, taken))
    store.write(lambda unit: queued.delete_equal(unit, NEXT_WRITE_ID, {"NWI_DATABASE": "d", "NWI_TABLE": "it's 50%"}))
    with store.read() as connection:
        assert list(connection.execute(select(NEXT_WRITE_ID.c.NWI_TABLE)).scalars()) == ["t"]


def test_statements_travel_together(store: Store, statements: StatementCounter) -> None:
    with statements() as sent:
        store.write(fill)
    with store.read() as connection:
        together = connection.dialect.name == "postgresql"
    assert len(sent) == (1 if together else 2)


def test_an_error_in_between_sends_nothing(store: Store) -> None:
    def fail(unit: Unit) -> None:
        fill(unit)
        raise MetaError("no more")

    with pytest.raises(MetaError, match="no more"):
        store.write(fail)
    assert columns(store) == []


@pytest.mark.parametrize(("name", "said"), [("x" * 768, "COLUMN_NAME can have 767 characters"), ("a\0b", "NUL")])
def test_values_that_do_not_fit_are_refused(store: Store, name: str, said: str) -> None:
    row: dict[str, list[Any]] = {"CD_ID": [1], "INTEGER_IDX": [0], "COLUMN_NAME": [name], "TYPE_NAME": ["int"]}
    with pytest.raises(MetaError, match=said):
        store.write(lambda unit: queued.insert(unit, COLUMNS_V2, row))
