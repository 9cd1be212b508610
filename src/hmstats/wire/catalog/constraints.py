"""Constraints: Thrift structs <-> model, both directions side by side.

The API has a struct for each kind; a table maps the common fields to each struct's names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.errors import InvalidConstraint
from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintKind, Reference
from hmstats.model.catalog.names import table_name
from hmstats.wire.idl import hive_metastore


@dataclass(frozen=True, slots=True)
class _Struct:
    """The struct of a kind: its fields for the constraint's name and, where there is one, the value."""

    of: Any
    name: str
    value: str | None = None
    positioned: bool = False
    prefix: str = "table_"
    column: str = "column_name"


_STRUCTS = {
    ConstraintKind.PRIMARY_KEY: _Struct(hive_metastore.SQLPrimaryKey, "pk_name", positioned=True),
    ConstraintKind.FOREIGN_KEY: _Struct(
        hive_metastore.SQLForeignKey, "fk_name", positioned=True, prefix="fktable_", column="fkcolumn_name"
    ),
    ConstraintKind.UNIQUE: _Struct(hive_metastore.SQLUniqueConstraint, "uk_name", positioned=True),
    ConstraintKind.NOT_NULL: _Struct(hive_metastore.SQLNotNullConstraint, "nn_name"),
    ConstraintKind.DEFAULT: _Struct(hive_metastore.SQLDefaultConstraint, "dc_name", "default_value"),
    ConstraintKind.CHECK: _Struct(hive_metastore.SQLCheckConstraint, "dc_name", "check_expression"),
}

LISTS = {
    "foreignKeys": ConstraintKind.FOREIGN_KEY,
    "primaryKeys": ConstraintKind.PRIMARY_KEY,
    "uniqueConstraints": ConstraintKind.UNIQUE,
    "notNullConstraints": ConstraintKind.NOT_NULL,
    "defaultConstraints": ConstraintKind.DEFAULT,
    "checkConstraints": ConstraintKind.CHECK,
}
"""The field of a request or an answer that lists the constraints of each kind."""


def lists_from_thrift(request: Any, catalog: str | None = None) -> tuple[ColumnConstraint, ...]:
    """All constraints in a struct with a list for each kind. Raises InvalidConstraint."""
    return tuple(
        each
        for field, kind in LISTS.items()
        for each in constraints_from_thrift(kind, getattr(request, field), catalog)
    )


def constraints_from_thrift(
    kind: ConstraintKind, structs: Sequence[Any] | None, catalog: str | None = None
) -> list[ColumnConstraint]:
    """The constraints in structs of one kind; where the first names no catalog all are in `catalog`.

    Raises InvalidConstraint where a table or a column is not named.
    """
    if structs and structs[0].catName is not None:
        catalog = None
    return [_from_thrift(kind, each, catalog or each.catName) for each in structs or ()]


def constraints_to_thrift(constraints: Iterable[ColumnConstraint]) -> list[Any]:
    """The structs of some constraints, of any kinds."""
    return [_to_thrift(each) for each in constraints]


def lists_to_thrift(constraints: Sequence[ColumnConstraint]) -> Any:
    """The SQLAllTableConstraints struct: constraints listed by kind."""
    by_kind = {
        field: constraints_to_thrift(each for each in constraints if each.kind is kind) for field, kind in LISTS.items()
    }
    return hive_metastore.SQLAllTableConstraints(**by_kind)


def _from_thrift(kind: ConstraintKind, struct: Any, catalog: str | None) -> ColumnConstraint:
    fields = _STRUCTS[kind]
    database, table = getattr(struct, f"{fields.prefix}db"), getattr(struct, f"{fields.prefix}name")
    column = getattr(struct, fields.column)
    if database is None or table is None or (column is None and kind is not ConstraintKind.CHECK):
        raise InvalidConstraint(f"a constraint must name a table and a column, found {database}.{table} {column}")
    return ColumnConstraint(
        kind=kind,
        table=table_name(database, table, catalog),
        name=_lower(getattr(struct, fields.name)),
        column=_lower(column),
        position=(struct.key_seq or 0) if fields.positioned else 1,
        value=getattr(struct, fields.value) if fields.value else None,
        reference=_reference_from_thrift(struct, catalog) if kind is ConstraintKind.FOREIGN_KEY else None,
        enabled=bool(struct.enable_cstr),
        validated=bool(struct.validate_cstr),
        relied_on=bool(struct.rely_cstr),
    )


def _to_thrift(constraint: ColumnConstraint) -> Any:
    fields = _STRUCTS[constraint.kind]
    values: dict[str, Any] = {
        "catName": constraint.table.catalog,
        f"{fields.prefix}db": constraint.table.database,
        f"{fields.prefix}name": constraint.table.table,
        fields.column: constraint.column,
        fields.name: constraint.name,
        "enable_cstr": constraint.enabled,
        "validate_cstr": constraint.validated,
        "rely_cstr": constraint.relied_on,
    }
    if fields.positioned:
        values["key_seq"] = constraint.position
    if fields.value:
        values[fields.value] = constraint.value
    return fields.of(**values, **_reference_to_thrift(constraint.reference))


def _reference_from_thrift(struct: Any, catalog: str | None) -> Reference:
    if struct.pktable_db is None or struct.pktable_name is None or struct.pkcolumn_name is None:
        raise InvalidConstraint(
            "a foreign key must name the table and the column that it refers to, "
            f"found {struct.pktable_db}.{struct.pktable_name} {struct.pkcolumn_name}"
        )
    return Reference(
        table=table_name(struct.pktable_db, struct.pktable_name, catalog),
        column=struct.pkcolumn_name.strip().lower(),
        key=_lower(struct.pk_name),
        update_rule=struct.update_rule or 0,
        delete_rule=struct.delete_rule or 0,
    )


def _reference_to_thrift(reference: Reference | None) -> dict[str, Any]:
    if reference is None:
        return {}
    return {
        "pktable_db": reference.table.database,
        "pktable_name": reference.table.table,
        "pkcolumn_name": reference.column,
        "pk_name": reference.key,
        "update_rule": reference.update_rule,
        "delete_rule": reference.delete_rule,
    }


def _lower(text: str | None) -> str | None:
    return None if text is None else text.strip().lower()
