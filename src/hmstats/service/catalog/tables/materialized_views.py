"""Sources of materialized views: returned with them, replaced when a view is rebuilt, and protected from drops."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hmstats.errors import InvalidOperation, UsedInViews
from hmstats.model.catalog.objects import MATERIALIZED_VIEW, Creation, DatabaseName, Table, TableName
from hmstats.store.catalog import materialized_views, tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Connection, Unit


class MaterializedViews:
    """The sources of the materialized views of every database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def update(self, name: TableName, creation: Creation) -> None:
        """Replace the sources of a view, with their current state.

        Raises InvalidOperation if the materialized view does not exist, InvalidObject if a source does not exist.
        """

        def put(unit: Unit) -> None:
            table_id = tables.lock(unit, name)
            stored = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or stored is None or stored.table_type != MATERIALIZED_VIEW:
                raise InvalidOperation(f"there is no materialized view {name}")
            materialized_views.replace(unit, name, creation)
            versions.bump(unit, table_id)

        self._store.write(put)


def with_creation(connection: Connection, tables_found: Sequence[Table]) -> list[Table]:
    """The tables; materialized views among them get their sources, whose own sources are not filled in."""
    views = [each.name for each in tables_found if each.table_type == MATERIALIZED_VIEW]
    if not views:
        return list(tables_found)
    creations = materialized_views.read(connection, views)
    sources = _tables(connection, {source.name for each in creations.values() for source in each.sources})
    return [
        replace(each, creation=_with_source_tables(creations[each.name], sources)) if each.name in creations else each
        for each in tables_found
    ]


def check_unused(connection: Connection, table_ids: Sequence[int], apart_from: DatabaseName | None = None) -> None:
    """Raise UsedInViews if a materialized view reads one of these tables, except for those of database `apart_from`."""
    views = [each for each in materialized_views.views_of(connection, table_ids) if each.parent != apart_from]
    if views:
        raise UsedInViews([(each.catalog, each.database, each.table) for each in views])


def _tables(connection: Connection, names: Iterable[TableName]) -> dict[TableName, Table]:
    inside: dict[DatabaseName, list[str]] = {}
    for name in names:
        inside.setdefault(name.parent, []).append(name.table)
    tables_found = [each for parent, wanted in inside.items() for each in tables.get_many(connection, parent, wanted)]
    return {each.name: each for each in tables_found}


def _with_source_tables(creation: Creation, sources_found: dict[TableName, Table]) -> Creation:
    sources = tuple(
        replace(each, table=sources_found[each.name]) for each in creation.sources if each.name in sources_found
    )
    return replace(creation, sources=sources)
