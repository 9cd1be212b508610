import random
from dataclasses import replace

import pytest
from sqlalchemy import insert, select
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import COLUMNS, STORAGE, make_table

from hmstats.model.catalog.objects import Partition, SerDe, SortColumn
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITION_PARAMS, PARTITIONS
from hmstats.store.storage import parts
from hmstats.store.unit.unit import Unit

PARTITIONS_MADE = {
    f"a={number}/b=x": Partition(
        values=(str(number), "x"),
        parameters={"n": str(number), 'odd "key" \\ \n': "{[ü😀,]}"},
        storage=replace(
            STORAGE,
            bucket_columns=("y", "x"),
            sort_columns=(SortColumn("y", 0), SortColumn("x", number % 2)),
            serde=SerDe(library="s", parameters={"of": str(number // 2)}),
        ),
    )
    for number in range(5)
}


def make(store: Store) -> int:
    table_id = make_table(store)
    store.write(lambda unit: partitions.insert_many(unit, table_id, COLUMNS, PARTITIONS_MADE))
    return table_id


def read(store: Store, table_id: int) -> dict[str, Partition]:
    with store.read() as connection:
        found = partitions.get_all(connection, table_id)
    return {name: replace(each, id=None) for name, each in found.items()}


@pytest.mark.parametrize("at_once", [1, 2, 5, 6])
def test_parts_of_more_owners_than_a_statement_takes(
    store: Store, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    table_id = make(store)
    monkeypatch.setattr(parts, "_OWNERS_AT_ONCE", at_once)
    with statements() as counted:
        assert read(store, table_id) == PARTITIONS_MADE
    assert len(counted) == 1 + -(-5 // at_once)


def test_values_are_in_order_however_their_rows_lie(store: Store) -> None:
    table_id = make_table(store)
    rows = [(owner, place, f"{owner}-{place}") for owner in (1, 2, 3) for place in range(4)]
    random.Random(7).shuffle(rows)
    common = {"TBL_ID": table_id, "CREATE_TIME": 0, "LAST_ACCESS_TIME": 0}
    keys = ("PART_ID", "INTEGER_IDX", "PART_KEY_VAL")

    def add(unit: Unit) -> None:
        named = [{"PART_ID": each, "PART_NAME": f"p{each}", **common} for each in (1, 2, 3)]
        unit.connection.execute(insert(PARTITIONS), named)
        unit.connection.execute(insert(PARTITION_KEY_VALS), [dict(zip(keys, row, strict=True)) for row in rows])

    store.write(add)
    expected = [tuple(f"{owner}-{place}" for place in range(4)) for owner in (1, 2, 3)]
    assert [each.values for each in read(store, table_id).values()] == expected


def test_a_parameter_of_unknown_value_is_empty(store: Store) -> None:
    table_id = make(store)

    def add(unit: Unit) -> None:
        first = unit.connection.execute(select(PARTITIONS.c.PART_ID).order_by(PARTITIONS.c.PART_NAME)).scalars().first()
        row = {"PART_ID": first, "PARAM_KEY": "unknown", "PARAM_VALUE": None}
        unit.connection.execute(insert(PARTITION_PARAMS).values(row))

    store.write(add)
    found = read(store, table_id)
    assert found["a=0/b=x"].parameters["unknown"] == ""
    assert "unknown" not in found["a=1/b=x"].parameters
