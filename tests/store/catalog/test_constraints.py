from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.store.catalog_values import NAME, STORAGE, TABLE, make_table
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError
from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintFilter, ConstraintKind, Reference
from hmstats.model.catalog.objects import Column, TableName
from hmstats.store.catalog import constraints, tables
from hmstats.store.catalog.constraints import NO_COLUMN, ColumnIndex, ConstrainedTable, ResolvedConstraint
from hmstats.store.database.store import Store

OTHER = TableName("hive", "default", "other")
COLUMNS = (Column("id", "bigint"), Column("name", "string"), Column("size", "int"))
T = replace(TABLE, storage=replace(STORAGE, columns=COLUMNS))
U = replace(T, name=OTHER)


def holder(store: Store, name: TableName = NAME) -> ConstrainedTable:
    found = store.write(lambda unit: constraints.lock(unit, name))
    assert found is not None
    return found


def placed(on: ConstrainedTable, kind: ConstraintKind, column: str, name: str, position: int = 1) -> ResolvedConstraint:
    constraint = ColumnConstraint(
        kind=kind, table=NAME, name=name, column=column, position=position, value="7", enabled=True, relied_on=True
    )
    place = on.find_column(column)
    assert place is not None
    return ResolvedConstraint(constraint, on.id, place)


def foreign(child: ConstrainedTable, parent: ConstrainedTable, column: str, referred: str) -> ResolvedConstraint:
    """A foreign key of the other table that refers to the table's."""
    reference = Reference(NAME, referred, "pk", update_rule=1, delete_rule=2)
    constraint = ColumnConstraint(
        kind=ConstraintKind.FOREIGN_KEY, table=OTHER, name="fk", column=column, reference=reference, validated=True
    )
    at, of = parent.find_column(referred), child.find_column(column)
    assert at is not None
    return ResolvedConstraint(constraint, parent.id, at, child.id, of)


def insert(store: Store, *new: ResolvedConstraint) -> None:
    store.write(lambda unit: constraints.insert_many(unit, new))


def own(store: Store, *kinds: ConstraintKind, tables_wanted: ConstraintFilter | None = None) -> list[ColumnConstraint]:
    with store.read() as connection:
        wanted = tables_wanted or constraints.of(NAME)
        return constraints.without_foreign_keys(connection, kinds or list(ConstraintKind), wanted)


def foreign_keys(store: Store, child: ConstraintFilter, parent: ConstraintFilter) -> list[ColumnConstraint]:
    with store.read() as connection:
        return constraints.foreign_keys(connection, child, parent)


def names(found: Sequence[ColumnConstraint]) -> list[tuple[str | None, str | None]]:
    return [(each.name, each.column) for each in found]


@pytest.mark.parametrize("kind", [each for each in ConstraintKind if each is not ConstraintKind.FOREIGN_KEY])
@pytest.mark.parametrize("column", ["id", "size", "p"])
def test_every_kind_comes_back_on_columns_and_partition_keys(store: Store, kind: ConstraintKind, column: str) -> None:
    make_table(store, T)
    new = placed(holder(store), kind, column, "c")
    insert(store, new)
    assert own(store, kind) == [new.constraint]
    assert own(store, *(each for each in ConstraintKind if each is not kind)) == []


def test_a_check_without_a_column(store: Store) -> None:
    make_table(store, T)
    whole = ColumnConstraint(kind=ConstraintKind.CHECK, table=NAME, name="c", column=None, value="id > 0")
    insert(store, ResolvedConstraint(whole, holder(store).id, NO_COLUMN))
    assert own(store, ConstraintKind.CHECK) == [whole]


def test_places_of_columns(store: Store) -> None:
    make_table(store, T)
    found = holder(store)
    assert found.find_column("size") == ColumnIndex(found.descriptor, 2)
    assert found.find_column("p") == ColumnIndex(None, 0)
    assert found.find_column("nope") is None
    assert store.write(lambda unit: constraints.lock(unit, OTHER)) is None


def test_constraints_of_one_table_a_database_or_a_catalog(store: Store) -> None:
    make_table(store, T)
    make_table(store, U)
    insert(store, placed(holder(store), ConstraintKind.NOT_NULL, "id", "c"))
    insert(store, placed(holder(store, OTHER), ConstraintKind.NOT_NULL, "name", "c"))
    both = [("c", "name"), ("c", "id")]
    assert names(own(store)) == [("c", "id")]
    assert names(own(store, tables_wanted=ConstraintFilter("hive", "default"))) == both
    assert names(own(store, tables_wanted=ConstraintFilter("hive"))) == both
    assert own(store, tables_wanted=ConstraintFilter("spark")) == []
    assert own(store, tables_wanted=ConstraintFilter("hive", "default", "nope")) == []


def test_columns_of_a_key_come_in_order(store: Store) -> None:
    make_table(store, T)
    on = holder(store)
    key = [placed(on, ConstraintKind.PRIMARY_KEY, column, "pk", at) for at, column in enumerate(["size", "id"], 1)]
    insert(store, *reversed(key))
    assert names(own(store)) == [("pk", "size"), ("pk", "id")]
    with store.read() as connection:
        assert constraints.names(connection, on.id) == {"pk"}
    with pytest.raises(MetaError, match="refuses the change"):
        insert(store, key[0])


def test_a_foreign_key_comes_back_with_the_name_of_the_key_it_refers_to(store: Store) -> None:
    make_table(store, T)
    make_table(store, U)
    parent, child = holder(store), holder(store, OTHER)
    key = foreign(child, parent, "size", "id")
    insert(store, placed(parent, ConstraintKind.PRIMARY_KEY, "id", "pk"), key)
    everywhere = ConstraintFilter("hive")
    assert foreign_keys(store, constraints.of(OTHER), everywhere) == [key.constraint]
    assert foreign_keys(store, everywhere, constraints.of(NAME)) == [key.constraint]
    assert foreign_keys(store, constraints.of(NAME), everywhere) == []
    assert foreign_keys(store, everywhere, constraints.of(OTHER)) == []


def test_a_constraint_is_removed_by_name_from_either_table(store: Store) -> None:
    make_table(store, T)
    make_table(store, U)
    parent, child = holder(store), holder(store, OTHER)
    insert(store, placed(parent, ConstraintKind.PRIMARY_KEY, "id", "pk"), foreign(child, parent, "size", "id"))
    assert not store.write(lambda unit: constraints.remove(unit, child.id, "pk"))
    assert store.write(lambda unit: constraints.remove(unit, child.id, "fk"))
    assert store.write(lambda unit: constraints.remove(unit, parent.id, "pk"))
    assert not store.write(lambda unit: constraints.remove(unit, parent.id, "pk"))


@pytest.mark.parametrize("dropped", [NAME, OTHER])
def test_constraints_go_with_either_table(store: Store, dropped: TableName) -> None:
    made = {NAME: make_table(store, T), OTHER: make_table(store, U)}
    before = row_counts(store)
    insert(store, foreign(holder(store, OTHER), holder(store), "size", "id"))
    store.write(lambda unit: tables.remove_many(unit, [made[dropped]]))
    make_table(store, T if dropped == NAME else U)
    assert row_counts(store) == before
