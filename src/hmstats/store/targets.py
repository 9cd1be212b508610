"""What a statistics call is about: as much of a table as its rules look at."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, literal, select, union_all

from hmstats.model.accurate import PARAMETER
from hmstats.model.catalog import Column, Parameters, TableName
from hmstats.store import versions
from hmstats.store.schema import COLUMNS_V2, DBS, PARTITION_KEYS, SDS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.unit import Unit

_LOOKED_AT = (PARAMETER, "numRows")


@dataclass(frozen=True, slots=True)
class Target:
    """A table's id, data columns, partition keys, and the parameters that bear on statistics."""

    id: int
    columns: tuple[Column, ...]
    partition_keys: tuple[Column, ...]
    parameters: Parameters

    @property
    def keys(self) -> list[str]:
        """The names of the partition keys."""
        return [key.name for key in self.partition_keys]


def find(connection: Connection, name: TableName) -> Target | None:
    """The table's target, or None; two statements."""
    return _read(connection, connection.execute(_query(name)).one_or_none())


def lock(unit: Unit, name: TableName) -> Target | None:
    """The same, the table's row locked until the unit ends: writers of one table follow one another."""
    row = unit.connection.execute(_query(name).with_for_update(of=TBLS)).one_or_none()
    return _read(unit.connection, row)


def _query(name: TableName) -> Any:
    tables = (
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .outerjoin(SDS, SDS.c.SD_ID == TBLS.c.SD_ID)
        .outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
    )
    return (
        select(TBLS.c.TBL_ID, SDS.c.CD_ID, VERSIONS.c.VERSION)
        .select_from(tables)
        .where(DBS.c.NAME == name.database, DBS.c.CTLG_NAME == name.catalog, TBLS.c.TBL_NAME == name.table)
    )


def _read(connection: Connection, row: Any) -> Target | None:
    if row is None:
        return None
    versions.note(row.TBL_ID, row.VERSION)
    c, k, p = COLUMNS_V2.c, PARTITION_KEYS.c, TABLE_PARAMS.c
    query = union_all(
        select(literal("column"), c.INTEGER_IDX, c.COLUMN_NAME, c.TYPE_NAME).where(c.CD_ID == row.CD_ID),
        select(literal("key"), k.INTEGER_IDX, k.PKEY_NAME, k.PKEY_TYPE).where(k.TBL_ID == row.TBL_ID),
        select(literal("parameter"), literal(0), p.PARAM_KEY, p.PARAM_VALUE).where(
            p.TBL_ID == row.TBL_ID, p.PARAM_KEY.in_(_LOOKED_AT)
        ),
    )
    parts: dict[str, list[tuple[str, str]]] = {"column": [], "key": [], "parameter": []}
    for kind, _, name, text in sorted(connection.execute(query), key=lambda part: part[1]):
        parts[kind].append((name, text or ""))
    columns = tuple(Column(name, kind) for name, kind in parts["column"])
    keys = tuple(Column(name, kind) for name, kind in parts["key"])
    return Target(row.TBL_ID, columns, keys, dict(parts["parameter"]))
