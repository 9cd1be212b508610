from typing import Any

import pytest
from sqlalchemy import ColumnElement, select
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import make_table

from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_TABLE_VERSION, SEQUENCE_TABLE, TAB_COL_STATS
from hmstats.store.statements.upserts import upsert, upsert_columns

SEQUENCES = SEQUENCE_TABLE.c


def taken(_old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {"NEXT_VAL": new.NEXT_VAL}


def added(old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {"NEXT_VAL": old.NEXT_VAL + new.NEXT_VAL + 1}


def stored(store: Store) -> dict[str, int]:
    with store.read() as connection:
        rows = connection.execute(select(SEQUENCES.SEQUENCE_NAME, SEQUENCES.NEXT_VAL))
        return {name: number for name, number in rows if not name.startswith("org.")}


def put(store: Store, changes: Any, **rows: int) -> None:
    listed = [{"SEQUENCE_NAME": name, "NEXT_VAL": number} for name, number in rows.items()]
    store.write(lambda unit: upsert(unit, SEQUENCE_TABLE, ["SEQUENCE_NAME"], listed, changes))


def test_new_rows_are_inserted_and_those_that_are_there_changed(store: Store) -> None:
    put(store, taken, a=1, b=2)
    put(store, added, b=10, c=20)
    assert stored(store) == {"a": 1, "b": 13, "c": 20}


def test_no_rows_are_no_statement(store: Store, statements: StatementCounter) -> None:
    with statements() as sent:
        put(store, taken)
    assert sent == []


def test_one_row_and_rows_with_one_value_in_common(store: Store) -> None:
    put(store, taken, a=7)
    put(store, taken, b=7, c=7, d=7)
    put(store, taken, b=8, c=9)
    assert stored(store) == {"a": 7, "b": 8, "c": 9, "d": 7}


def test_more_rows_than_go_into_one_statement(store: Store) -> None:
    names = [f"n{number:05}" for number in range(4_001)]
    columns = {"SEQUENCE_NAME": names, "NEXT_VAL": range(4_001)}
    for _ in range(2):
        store.write(lambda unit: upsert_columns(unit, SEQUENCE_TABLE, ["SEQUENCE_NAME"], columns, taken))
    assert stored(store) == dict(zip(names, range(4_001), strict=True))


@pytest.mark.parametrize("value", ["it's", 'qu"ote', "back\\slash", "%s %(a)s", "{a,b}", "NULL", "", "ü"])
def test_texts_come_as_they_are_alone_and_among_others(store: Store, value: str) -> None:
    put(store, taken, **{value: 1})
    assert stored(store) == {value: 1}
    put(store, taken, **{value: 2, "other": 2})
    assert stored(store) == {value: 2, "other": 2}


def test_zeros_keep_their_sign_when_they_are_written_together(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    table_id = make_table(store)
    same = {"TBL_ID": table_id, "ENGINE": "hive", "NUM_NULLS": 0, "LAST_ANALYZED": 1}
    rows = [
        {**same, "CS_ID": number, "COLUMN_NAME": f"c{number}", "DOUBLE_LOW_VALUE": low}
        for number, low in enumerate([0.0, -0.0])
    ]
    key = ["TBL_ID", "COLUMN_NAME", "ENGINE"]
    store.write(lambda unit: upsert(unit, TAB_COL_STATS, key, rows, lambda _, new: {"NUM_NULLS": new.NUM_NULLS}))
    with store.read() as connection:
        found = connection.execute(select(TAB_COL_STATS.c.DOUBLE_LOW_VALUE).order_by(TAB_COL_STATS.c.CS_ID)).scalars()
        assert [str(each) for each in found] == ["0.0", "-0.0"]
    store.close()


def test_a_statement_is_the_same_however_many_rows_it_writes(postgres_url: str, statements: StatementCounter) -> None:
    store = Store.open(postgres_url)
    with statements() as sent:
        for many in (2, 5, 1_000):
            rows = [{"TBL_ID": number, "VERSION": number} for number in range(many)]
            store.write(
                lambda unit, rows=rows: upsert(  # type: ignore[misc]
                    unit, HMSTATS_TABLE_VERSION, ["TBL_ID"], rows, lambda old, _: {"VERSION": old.VERSION + 1}
                )
            )
    store.close()
    assert [each.split()[0] for each in sent] == ["PREPARE", "EXECUTE", "EXECUTE"]
    assert len({each.split("EXECUTE")[1] for each in sent}) == 1
