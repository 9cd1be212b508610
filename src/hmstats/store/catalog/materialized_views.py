"""Sources of materialized views: MV_CREATION_METADATA, and MV_TABLES_USED with the source tables."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from hmstats.errors import InvalidObject
from hmstats.model.catalog.objects import Creation, DatabaseName, SourceTable, TableName
from hmstats.store.changes import versions
from hmstats.store.schema import DBS, MV_CREATION_METADATA, MV_TABLES_USED, TBLS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit import ids
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_V, _U = MV_CREATION_METADATA.c, MV_TABLES_USED.c
_NAMED = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
_USED = MV_TABLES_USED.join(_NAMED, TBLS.c.TBL_ID == _U.TBL_ID)


def read(connection: Connection, names: Sequence[TableName]) -> dict[TableName, Creation]:
    """The sources by view, without their tables, in name order; views without stored sources are absent."""
    versions.note_unlogged()  # Hive logs no event when a view's sources change
    query = select(MV_CREATION_METADATA).where(or_(*map(_is, names)))
    rows = {row.MV_CREATION_METADATA_ID: row for row in connection.execute(query)}
    sources: dict[int, list[SourceTable]] = {each: [] for each in rows}
    used = select(MV_TABLES_USED, DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_USED)
    used = used.where(one_of(connection, _U.MV_CREATION_METADATA_ID, sorted(rows)))
    for row in connection.execute(used) if rows else ():
        name = TableName(row.CTLG_NAME, row.NAME, row.TBL_NAME)
        source = SourceTable(name, row.INSERTED_COUNT, row.UPDATED_COUNT, row.DELETED_COUNT)
        sources[row.MV_CREATION_METADATA_ID].append(source)
    return {
        TableName(row.CAT_NAME, row.DB_NAME, row.TBL_NAME): Creation(
            sources=tuple(sorted(sources[each], key=lambda source: str(source.name))),
            transactions=row.TXN_LIST,
            materialized_ms=row.MATERIALIZATION_TIME,
        )
        for each, row in rows.items()
    }


def replace(unit: Unit, view: TableName, creation: Creation) -> None:
    """Replace the sources of a view, as of the unit's time. Raises InvalidObject if a source does not exist."""
    values = {"TXN_LIST": creation.transactions, "MATERIALIZATION_TIME": unit.now_seconds * 1000}
    view_id = unit.connection.execute(select(_V.MV_CREATION_METADATA_ID).where(_is(view))).scalar_one_or_none()
    if view_id is None:
        view_id = unit.ids(ids.Sequence.MATERIALIZED_VIEW, 1)[0]
        key = {"CAT_NAME": view.catalog, "DB_NAME": view.database, "TBL_NAME": view.table}
        unit.connection.execute(insert(MV_CREATION_METADATA), {"MV_CREATION_METADATA_ID": view_id, **key, **values})
    else:
        unit.connection.execute(update(MV_CREATION_METADATA).where(_is(view)).values(values))
        unit.connection.execute(delete(MV_TABLES_USED).where(_U.MV_CREATION_METADATA_ID == view_id))
    rows = [
        {"MV_CREATION_METADATA_ID": view_id, **row} for row in _source_rows(unit.connection, view, creation.sources)
    ]
    if rows:
        unit.connection.execute(insert(MV_TABLES_USED), rows)


def remove(unit: Unit, view: TableName) -> None:
    """Remove the sources of a view."""
    _remove(unit, _is(view))


def remove_of_database(unit: Unit, database: DatabaseName) -> None:
    """Remove the sources of a database's views."""
    _remove(unit, and_(_V.CAT_NAME == database.catalog, _V.DB_NAME == database.database))


def rename(unit: Unit, view: TableName, name: TableName) -> None:
    """Rename a view in the stored sources."""
    new = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TBL_NAME": name.table}
    unit.connection.execute(update(MV_CREATION_METADATA).where(_is(view)).values(new))


def views_of(connection: Connection, table_ids: Sequence[int]) -> list[TableName]:
    """The names of the views that read any of these tables, sorted."""
    query = select(_V.CAT_NAME, _V.DB_NAME, _V.TBL_NAME).distinct()
    query = query.join(MV_TABLES_USED, _U.MV_CREATION_METADATA_ID == _V.MV_CREATION_METADATA_ID)
    query = query.execution_options(**PREPARED)
    rows = connection.execute(query.where(one_of(connection, _U.TBL_ID, table_ids)))
    return sorted((TableName(*row) for row in rows), key=str)


def _remove(unit: Unit, condition: Any) -> None:
    views = select(_V.MV_CREATION_METADATA_ID).where(condition)
    unit.connection.execute(delete(MV_TABLES_USED).where(_U.MV_CREATION_METADATA_ID.in_(views)))
    unit.connection.execute(delete(MV_CREATION_METADATA).where(condition))


def _source_rows(connection: Connection, view: TableName, sources: Sequence[SourceTable]) -> list[dict[str, int]]:
    """The rows of the sources without duplicates. Raises InvalidObject if a source does not exist."""
    by_name = {each.name: each for each in sources}
    query = select(TBLS.c.TBL_ID, DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED)
    rows = connection.execute(query.where(or_(*map(_is_table, by_name)))) if by_name else ()
    table_ids = {TableName(*name): table_id for table_id, *name in rows}
    missing = [each for each in by_name if each not in table_ids]
    if missing:
        raise InvalidObject(f"materialized view {view}: its source table {missing[0]} does not exist")
    return [
        {
            "TBL_ID": table_ids[name],
            "INSERTED_COUNT": source.inserted,
            "UPDATED_COUNT": source.updated,
            "DELETED_COUNT": source.deleted,
        }
        for name, source in by_name.items()
    ]


def _is(view: TableName) -> Any:
    return and_(_V.CAT_NAME == view.catalog, _V.DB_NAME == view.database, _V.TBL_NAME == view.table)


def _is_table(name: TableName) -> Any:
    return and_(DBS.c.CTLG_NAME == name.catalog, DBS.c.NAME == name.database, TBLS.c.TBL_NAME == name.table)
