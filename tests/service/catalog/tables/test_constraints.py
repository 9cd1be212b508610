"""The rules of constraints: names, order, what one call may hold, and what is left after a refusal."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog.test_constraints import OTHER, T, U
from tests.store.catalog_values import NAME, make_table

from hmstats.errors import InvalidConstraint, MetaError
from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintKind, Reference
from hmstats.model.catalog.objects import Column, TableName
from hmstats.service.catalog.tables.constraints import Constraints
from hmstats.store.changes import versions
from hmstats.store.database.store import Store


@pytest.fixture
def constraints(store: Store) -> Constraints:
    """The rules, over two tables with the columns id, name, size and the partition key p."""
    make_table(store, T)
    make_table(store, U)
    return Constraints(store)


def constraint(
    kind: ConstraintKind, column: str | None, name: str | None = None, position: int = 1, table: TableName = NAME
) -> ColumnConstraint:
    return ColumnConstraint(kind=kind, table=table, column=column, name=name, position=position)


def key(kind: ConstraintKind, *columns: str, name: str | None = None) -> list[ColumnConstraint]:
    return [constraint(kind, column, name, at) for at, column in enumerate(columns, 1)]


def references(*pairs: tuple[str, str], child: TableName = OTHER, name: str | None = None) -> list[ColumnConstraint]:
    return [
        replace(
            constraint(ConstraintKind.FOREIGN_KEY, column, name, at, child), reference=Reference(NAME, referred, None)
        )
        for at, (column, referred) in enumerate(pairs, 1)
    ]


def names(found: Sequence[ColumnConstraint]) -> set[str]:
    return {each.name or "" for each in found}


def test_one_call_may_hold_constraints_of_every_kind_in_any_order(constraints: Constraints) -> None:
    of_columns = (ConstraintKind.CHECK, ConstraintKind.DEFAULT, ConstraintKind.NOT_NULL)
    new = [
        *references(("size", "id"), child=NAME),
        *(constraint(kind, "name") for kind in of_columns),
        *key(ConstraintKind.UNIQUE, "name", "p"),
    ]
    with pytest.raises(MetaError, match=r"Foreign key references id:int; but no .* Possible keys: \[name:string;p:st"):
        constraints.add(new)
    assert constraints.all(NAME) == []
    constraints.add([*references(("id", "id"), child=OTHER), *new[1:], *key(ConstraintKind.PRIMARY_KEY, "id")])
    assert {each.kind for each in constraints.all(NAME)} == set(ConstraintKind) - {ConstraintKind.FOREIGN_KEY}
    assert [each.column for each in constraints.all(OTHER)] == ["id"]


def test_columns_of_a_key_share_a_name_that_was_made_up(constraints: Constraints) -> None:
    constraints.add(key(ConstraintKind.PRIMARY_KEY, "size", "id"))
    found = constraints.of_kind(ConstraintKind.PRIMARY_KEY, NAME)
    assert [each.column for each in found] == ["size", "id"]
    assert len(names(found)) == 1
    assert names(found).pop().startswith("pk_")


def test_each_key_of_a_call_has_its_own_name(constraints: Constraints) -> None:
    """A key goes on until a column stands at position 1 again."""
    two = [*key(ConstraintKind.UNIQUE, "id", "name"), *key(ConstraintKind.UNIQUE, "size")]
    constraints.add(two)
    found = constraints.of_kind(ConstraintKind.UNIQUE, NAME)
    assert sorted(sum(each.name == name for each in found) for name in names(found)) == [1, 2]


def test_names_are_made_up_anew_for_the_same_column(constraints: Constraints) -> None:
    for _ in range(3):
        constraints.add([constraint(ConstraintKind.CHECK, "id")])
    assert len(names(constraints.of_kind(ConstraintKind.CHECK, NAME))) == 3


@pytest.mark.parametrize(
    ("new", "error", "text"),
    [
        (key(ConstraintKind.PRIMARY_KEY, "id", "nope"), InvalidConstraint, "Parent column not found: nope"),
        ([constraint(ConstraintKind.DEFAULT, "nope")], InvalidConstraint, "Parent column not found: nope"),
        (
            [constraint(ConstraintKind.CHECK, None, "same"), constraint(ConstraintKind.NOT_NULL, "id", "same")],
            InvalidConstraint,
            r"Constraint name already exists: default\.t\.same",
        ),
        (
            [*key(ConstraintKind.PRIMARY_KEY, "id"), *key(ConstraintKind.PRIMARY_KEY, "name")],
            MetaError,
            r"Primary key already exists for: hive\.default\.t",
        ),
        (references(("id", "id")), MetaError, "no primary keys or unique keys"),
        (references(("nope", "id")), MetaError, "no primary keys or unique keys"),
    ],
)
def test_a_refused_call_adds_nothing(
    constraints: Constraints, new: list[ColumnConstraint], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        constraints.add([constraint(ConstraintKind.NOT_NULL, "size", "first"), *new])
    assert constraints.all(NAME) == []
    assert constraints.all(OTHER) == []


def test_a_foreign_key_has_the_columns_of_a_key_in_its_order(constraints: Constraints) -> None:
    constraints.add(key(ConstraintKind.UNIQUE, "name", "id"))
    with pytest.raises(MetaError, match="Foreign key references id:bigint;name:string;"):
        constraints.add(references(("id", "id"), ("name", "name")))
    constraints.add(references(("name", "name"), ("id", "id")))
    found = constraints.all(OTHER)
    assert [(each.column, each.reference.column if each.reference else None) for each in found] == [
        ("name", "name"),
        ("id", "id"),
    ]


def test_a_table_is_told_of_its_own_constraints_only(constraints: Constraints) -> None:
    constraints.add([*key(ConstraintKind.PRIMARY_KEY, "id"), *references(("id", "id"), name="fk")])
    assert {each.kind for each in constraints.all(NAME)} == {ConstraintKind.PRIMARY_KEY}
    assert names(constraints.all(OTHER)) == {"fk"}


def test_every_table_that_is_touched_has_a_new_version(constraints: Constraints, store: Store) -> None:
    def numbers() -> list[int]:
        with store.read() as connection:
            return [versions.read(connection, table_id) for table_id in (1, 2)]

    constraints.add(key(ConstraintKind.PRIMARY_KEY, "id"))
    first = numbers()
    constraints.add(references(("id", "id"), name="fk"))
    second = numbers()
    assert all(after > before for before, after in zip(first, second, strict=True))
    constraints.drop(OTHER, "fk")
    assert numbers()[1] > second[1]


def test_many_columns_are_a_constant_number_of_statements(store: Store, statements: StatementCounter) -> None:
    columns = tuple(Column(f"c{number}", "int") for number in range(100))
    assert T.storage is not None
    make_table(store, replace(T, storage=replace(T.storage, columns=columns)))
    rules = Constraints(store)
    counts = []
    for count, base in ((2, 0), (90, 10)):
        new = [constraint(ConstraintKind.NOT_NULL, f"c{base + number}") for number in range(count)]
        with statements() as sent:
            rules.add(new)
        counts.append(len(sent))
    assert counts[0] == counts[1]
    assert len(rules.of_kind(ConstraintKind.NOT_NULL, NAME)) == 92
