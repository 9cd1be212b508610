"""Privileges on many partitions: PART_PRIVS, and those that new partitions inherit from their table's TBL_PRIVS."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, and_, insert, or_, select

from hmstats.model.catalog.privileges import Grant, Principal
from hmstats.store.partitions import partitions
from hmstats.store.schema import PART_COL_PRIVS, PART_PRIVS, TBL_COL_PRIVS, TBL_PRIVS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.unit import Unit

_COMMON = ("GRANT_OPTION", "GRANTOR", "GRANTOR_TYPE", "PRINCIPAL_NAME", "PRINCIPAL_TYPE", "AUTHORIZER")


def read(
    connection: Connection, partition_ids: Sequence[int], principals: Iterable[Principal]
) -> dict[int, list[tuple[Principal, Grant]]]:
    """The principals' grants by partition id, in the order of the grants."""
    p = PART_PRIVS.c
    of_principals = or_(
        False, *(and_(p.PRINCIPAL_TYPE == each.type, p.PRINCIPAL_NAME == each.name) for each in principals)
    )
    query = (
        select(PART_PRIVS).where(one_of(connection, p.PART_ID, partition_ids), of_principals).order_by(p.PART_GRANT_ID)
    )
    grants: dict[int, list[tuple[Principal, Grant]]] = {}
    for row in connection.execute(query):
        grant = Grant(
            privilege=row.PART_PRIV,
            grantor=row.GRANTOR,
            grantor_type=row.GRANTOR_TYPE,
            grant_option=bool(row.GRANT_OPTION),
            created_seconds=row.CREATE_TIME,
        )
        grants.setdefault(row.PART_ID, []).append((Principal(row.PRINCIPAL_NAME, row.PRINCIPAL_TYPE), grant))
    return grants


def inherit(unit: Unit, table_id: int, names: Sequence[str]) -> None:
    """Copy the privileges on a table and its columns to the named partitions."""
    partition_ids = sorted(partitions.find_ids(unit.connection, table_id, names).values())
    granted = _granted(unit.connection, TBL_PRIVS, table_id, {"TBL_PRIV": "PART_PRIV"})
    _insert(unit, PART_PRIVS, ("PART_GRANT_ID", IdSequence.PARTITION_PRIVILEGE), partition_ids, granted)
    granted = _granted(
        unit.connection, TBL_COL_PRIVS, table_id, {"TBL_COL_PRIV": "PART_COL_PRIV", "COLUMN_NAME": "COLUMN_NAME"}
    )
    key = "PART_COLUMN_GRANT_ID", IdSequence.PARTITION_COLUMN_PRIVILEGE
    _insert(unit, PART_COL_PRIVS, key, partition_ids, granted)


def _granted(connection: Connection, table: Table, table_id: int, named: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a table's privileges, with the columns renamed as for partitions."""
    columns = [*(table.c[each] for each in _COMMON), *(table.c[old].label(new) for old, new in named.items())]
    return [dict(row) for row in connection.execute(select(*columns).where(table.c.TBL_ID == table_id)).mappings()]


def _insert(
    unit: Unit,
    table: Table,
    key: tuple[str, IdSequence],
    partition_ids: Sequence[int],
    granted: Sequence[dict[str, Any]],
) -> None:
    pairs = [(each, row) for each in partition_ids for row in granted]
    if not pairs:
        return
    name, sequence = key
    rows = [
        {name: row_id, "PART_ID": partition_id, "CREATE_TIME": unit.now_seconds, **row}
        for row_id, (partition_id, row) in zip(unit.ids(sequence, len(pairs)), pairs, strict=True)
    ]
    unit.connection.execute(insert(table), rows)
