"""The codec of constraints: every kind there and back, by kind and in lists, and what is refused."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidConstraint
from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintKind, Reference
from hmstats.model.catalog.objects import TableName
from hmstats.wire.catalog.constraints import (
    LISTS,
    constraints_from_thrift,
    constraints_to_thrift,
    lists_from_thrift,
    lists_to_thrift,
)
from hmstats.wire.idl import hive_metastore

NAMES = st.text("abcdefgh_123", min_size=1, max_size=8)
TABLES = st.builds(TableName, st.just("spark"), NAMES, NAMES)
REFERENCES = st.builds(
    Reference,
    TABLES,
    NAMES,
    st.none() | NAMES,
    update_rule=st.integers(0, 4),
    delete_rule=st.integers(0, 4),
)
_KEYS = (ConstraintKind.PRIMARY_KEY, ConstraintKind.FOREIGN_KEY, ConstraintKind.UNIQUE)
_WITH_VALUE = (ConstraintKind.DEFAULT, ConstraintKind.CHECK)


@st.composite
def constraints(draw: st.DrawFn) -> ColumnConstraint:
    """A column's part in a constraint of any kind."""
    kind = draw(st.sampled_from(ConstraintKind))
    return ColumnConstraint(
        kind=kind,
        table=draw(TABLES),
        name=draw(st.none() | NAMES),
        column=draw(NAMES if kind is not ConstraintKind.CHECK else st.none() | NAMES),
        position=draw(st.integers(1, 9)) if kind in _KEYS else 1,
        value=draw(st.none() | st.text(max_size=20)) if kind in _WITH_VALUE else None,
        reference=draw(REFERENCES) if kind is ConstraintKind.FOREIGN_KEY else None,
        enabled=draw(st.booleans()),
        validated=draw(st.booleans()),
        relied_on=draw(st.booleans()),
    )


@given(constraints())
def test_every_kind_comes_back_as_it_went(constraint: ColumnConstraint) -> None:
    structs = constraints_to_thrift([constraint])
    assert constraints_from_thrift(constraint.kind, structs) == [constraint]


@given(st.lists(constraints(), max_size=6))
def test_lists_by_kind_come_back(several: Sequence[ColumnConstraint]) -> None:
    struct = lists_to_thrift(several)
    assert sorted(lists_from_thrift(struct), key=repr) == sorted(several, key=repr)
    for field, kind in LISTS.items():
        assert len(getattr(struct, field)) == sum(each.kind is kind for each in several)


def test_the_first_without_a_catalog_puts_all_into_the_one_given() -> None:
    constraint = ColumnConstraint(kind=ConstraintKind.NOT_NULL, table=TableName("hive", "d", "t"), column="a")
    structs = constraints_to_thrift([constraint, constraint])
    structs[0].catName = None
    structs[1].catName = "other"
    found = constraints_from_thrift(ConstraintKind.NOT_NULL, structs, "spark")
    assert [each.table.catalog for each in found] == ["spark", "spark"]
    structs[0].catName = "hive"
    found = constraints_from_thrift(ConstraintKind.NOT_NULL, structs, "spark")
    assert [each.table.catalog for each in found] == ["hive", "other"]


def test_names_come_in_lower_case() -> None:
    struct = hive_metastore.SQLPrimaryKey(
        table_db="Sales", table_name="Orders", column_name="ID", key_seq=1, pk_name="The_PK"
    )
    found = constraints_from_thrift(ConstraintKind.PRIMARY_KEY, [struct])
    expected = ColumnConstraint(
        kind=ConstraintKind.PRIMARY_KEY, table=TableName("hive", "sales", "orders"), name="the_pk", column="id"
    )
    assert found == [expected]


@pytest.mark.parametrize("kind", ConstraintKind)
def test_a_constraint_that_names_no_table_is_refused(kind: ConstraintKind) -> None:
    reference = Reference(TableName("hive", "d", "u"), "b") if kind is ConstraintKind.FOREIGN_KEY else None
    given_one = ColumnConstraint(kind=kind, table=TableName("hive", "d", "t"), column="a", reference=reference)
    for broken in ({"table": replace(given_one.table, table="")}, {"column": None}):
        struct = constraints_to_thrift([replace(given_one, **broken)])[0]
        if "table" in broken:
            setattr(struct, "fktable_name" if reference else "table_name", None)
        elif kind is ConstraintKind.CHECK:
            continue
        with pytest.raises(InvalidConstraint, match="must name a table and a column"):
            constraints_from_thrift(kind, [struct])


def test_a_foreign_key_that_refers_to_nothing_is_refused() -> None:
    struct = hive_metastore.SQLForeignKey(fktable_db="d", fktable_name="t", fkcolumn_name="a", pktable_db="d")
    with pytest.raises(InvalidConstraint, match=r"refers to, found d.None None"):
        constraints_from_thrift(ConstraintKind.FOREIGN_KEY, [struct])


def test_no_constraints_are_none() -> None:
    assert lists_from_thrift(hive_metastore.CreateTableRequest()) == ()
    assert constraints_from_thrift(ConstraintKind.CHECK, None) == []
