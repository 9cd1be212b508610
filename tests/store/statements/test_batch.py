from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import exists, select
from tests.fixtures.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.schema import CDS, COLUMNS_V2, NEXT_WRITE_ID
from hmstats.store.statements.batch import Batch
from hmstats.store.unit.unit import Unit


def write(store: Store, work: Callable[[Batch], None]) -> None:
    def within(unit: Unit) -> None:
        with Batch(unit) as batch:
            work(batch)

    store.write(within)


def columns(store: Store) -> list[tuple[int, int, str, str | None]]:
    c = COLUMNS_V2.c
    with store.read() as connection:
        query = select(c.CD_ID, c.INTEGER_IDX, c.COLUMN_NAME, c.COMMENT).order_by(c.CD_ID, c.INTEGER_IDX)
        return [tuple(row) for row in connection.execute(query)]


def fill(batch: Batch) -> None:
    batch.insert(CDS, {"CD_ID": range(1, 4)})
    batch.insert(
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
    write(store, fill)
    assert columns(store) == [
        (1, 0, 'a"b', None),
        (1, 1, "back\\slash {%s}", ""),
        (2, 0, "ü;\n", "NULL"),
        (3, 0, "x", None),
    ]


def test_ten_thousand_rows_and_more(store: Store) -> None:
    ids = range(1, 10_002)
    write(store, lambda batch: batch.insert(CDS, {"CD_ID": ids}))
    with store.read() as connection:
        assert set(connection.execute(select(CDS.c.CD_ID)).scalars()) == set(ids)


def test_deletes_take_sets_but_for_what_stays(store: Store) -> None:
    write(store, fill)

    def some(batch: Batch) -> None:
        batch.delete(COLUMNS_V2.c.CD_ID, [1])
        batch.delete(COLUMNS_V2.c.CD_ID, [])
        batch.delete(CDS.c.CD_ID, [1, 2], unless=exists().where(COLUMNS_V2.c.CD_ID == CDS.c.CD_ID))

    write(store, some)
    assert columns(store) == [(2, 0, "ü;\n", "NULL"), (3, 0, "x", None)]
    with store.read() as connection:
        assert set(connection.execute(select(CDS.c.CD_ID)).scalars()) == {2, 3}


def test_deletes_take_rows_with_values(store: Store) -> None:
    taken: dict[str, list[Any]] = {"NWI_DATABASE": ["d", "d"], "NWI_TABLE": ["t", "it's 50%"], "NWI_NEXT": [1, 2]}
    write(store, lambda batch: batch.insert(NEXT_WRITE_ID, taken))
    write(store, lambda batch: batch.delete_equal(NEXT_WRITE_ID, {"NWI_DATABASE": "d", "NWI_TABLE": "it's 50%"}))
    with store.read() as connection:
        assert list(connection.execute(select(NEXT_WRITE_ID.c.NWI_TABLE)).scalars()) == ["t"]


def test_statements_travel_together(store: Store, statements: StatementCounter) -> None:
    with statements() as sent:
        write(store, fill)
    with store.read() as connection:
        together = connection.dialect.name == "postgresql"
    assert len(sent) == (1 if together else 2)


def test_an_error_in_between_sends_nothing(store: Store) -> None:
    def fail(batch: Batch) -> None:
        fill(batch)
        raise MetaError("no more")

    with pytest.raises(MetaError, match="no more"):
        write(store, fail)
    assert columns(store) == []


@pytest.mark.parametrize(("name", "said"), [("x" * 768, "COLUMN_NAME can have 767 characters"), ("a\0b", "NUL")])
def test_values_that_do_not_fit_are_refused(store: Store, name: str, said: str) -> None:
    row: dict[str, list[Any]] = {"CD_ID": [1], "INTEGER_IDX": [0], "COLUMN_NAME": [name], "TYPE_NAME": ["int"]}
    with pytest.raises(MetaError, match=said):
        write(store, lambda batch: batch.insert(COLUMNS_V2, row))
