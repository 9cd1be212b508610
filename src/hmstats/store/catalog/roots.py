"""The warehouse roots that databases and managed tables need: prefixes of their locations."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, func, select

from hmstats.model.catalog.location import Location, outermost, parse
from hmstats.store.schema import DBS, SDS, TBLS


def needed_roots(connection: Connection, warehouse: str, table_types: Collection[str]) -> list[str]:
    """Prefixes for the setting `warehouse_roots` that contain all databases and the tables of these types.

    Locations inside the warehouse need none. Databases with one parent directory share a root.
    """
    own = parse(warehouse)
    needed = [*_of_databases(connection), *_of_tables(connection, table_types)]
    outside = (each for each in needed if each.is_absolute and each != own and not own.holds(each))
    return list(map(str, outermost(outside)))


def _of_databases(connection: Connection) -> Iterable[Location]:
    for name, text in connection.execute(select(DBS.c.NAME, DBS.c.DB_LOCATION_URI)):
        location = parse(text)
        beside = location.name == f"{name}.db" and not location.parent.is_root
        yield location.parent if beside else location


def _of_tables(connection: Connection, table_types: Collection[str]) -> Iterable[Location]:
    """The parent directories of tables outside of their databases' locations."""
    inside = func.substr(SDS.c.LOCATION, 1, func.length(DBS.c.DB_LOCATION_URI) + 1) == DBS.c.DB_LOCATION_URI + "/"
    joined = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID).join(SDS, SDS.c.SD_ID == TBLS.c.SD_ID)
    query = select(SDS.c.LOCATION).select_from(joined).where(TBLS.c.TBL_TYPE.in_(table_types), ~inside).distinct()
    for text in connection.execute(query).scalars():
        location = parse(text)
        yield location if location.parent.is_root else location.parent
