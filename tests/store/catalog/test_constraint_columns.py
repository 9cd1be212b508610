from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog.test_constraints import (
    COLUMNS,
    OTHER,
    T,
    U,
    foreign,
    foreign_keys,
    holder,
    insert,
    names,
    own,
    placed,
)
from tests.store.catalog_values import NAME, STORAGE, make_table

from hmstats.model.catalog.constraints import ConstraintKind
from hmstats.model.catalog.objects import Column, Table
from hmstats.store.catalog import constraints, tables
from hmstats.store.catalog.constraint_columns import _moves
from hmstats.store.database.store import Store

COLUMN_NAMES = st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True).map(lambda found: dict(enumerate(found)))


def alter(store: Store, table_id: int, table: Table, *columns: str) -> None:
    """Give a table these columns; those that it had keep their types."""
    types = {each.name: each.type for each in COLUMNS}
    new = tuple(Column(name, types.get(name, "double")) for name in columns)
    changed = replace(table, storage=replace(STORAGE, columns=new))
    store.write(lambda unit: tables.replace(unit, replace(table, id=table_id), changed))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("size", "name", "id", "new"), [("pk", "id"), ("pk", "size")]),
        (("key", "name", "size"), [("pk", "key"), ("pk", "size")]),
        (("id", "renamed", "size"), [("pk", "id"), ("pk", "size")]),
        (("id", "name"), []),
        (("x", "name", "y"), []),
        (("id", "size", "name"), [("pk", "id"), ("pk", "size")]),
    ],
)
def test_constraints_follow_their_columns(
    store: Store, columns: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    """Moved, one alone renamed, another renamed, one gone, two renamed, swapped."""
    made = make_table(store, T)
    on = holder(store)
    insert(store, *(placed(on, ConstraintKind.PRIMARY_KEY, name, "pk", at) for at, name in ((1, "id"), (2, "size"))))
    insert(store, placed(on, ConstraintKind.NOT_NULL, "p", "key"))
    alter(store, made, T, *columns)
    assert names(own(store, ConstraintKind.PRIMARY_KEY)) == expected
    assert names(own(store, ConstraintKind.NOT_NULL)) == [("key", "p")]


def test_both_ends_of_a_foreign_key_follow(store: Store) -> None:
    parent_id, child_id = make_table(store, T), make_table(store, U)
    insert(store, foreign(holder(store, OTHER), holder(store), "size", "id"))
    alter(store, parent_id, T, "name", "size", "id")
    alter(store, child_id, U, "size")
    found = foreign_keys(store, constraints.of(OTHER), constraints.of(NAME))
    assert [(each.column, each.reference.column if each.reference else None) for each in found] == [("size", "id")]
    alter(store, parent_id, T, "name", "size")
    assert foreign_keys(store, constraints.of(OTHER), constraints.of(NAME)) == []


def test_a_table_without_constraints_is_altered_with_one_statement_more(
    store: Store, statements: StatementCounter
) -> None:
    made = make_table(store, T)
    with statements() as sent:
        alter(store, made, T, "id", "name")
    assert len([each for each in sent if "KEY_CONSTRAINTS" in each]) == 1


@given(COLUMN_NAMES, COLUMN_NAMES)
def test_a_column_goes_to_its_name_or_alone_to_its_place(old: dict[int, str], new: dict[int, str]) -> None:
    moves = _moves(old, new)
    assert {index for index, name in old.items() if name in new.values()} <= moves.keys()
    assert len({*moves.values()}) == len(moves)
    renamed = [index for index, place in moves.items() if old[index] != new[place]]
    assert len(renamed) <= 1
    assert all(moves[index] == index and new[index] not in old.values() for index in renamed)
    assert not renamed or len(moves) == len(old) == len(new)
