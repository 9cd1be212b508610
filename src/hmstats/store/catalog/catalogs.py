"""Catalogs: CTLGS."""

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.model.catalog.objects import Catalog
from hmstats.store.schema import CTLGS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit


def get(connection: Connection, name: str) -> Catalog | None:
    """The catalog; None if it does not exist."""
    row = connection.execute(select(CTLGS).where(CTLGS.c.NAME == name)).one_or_none()
    return None if row is None else Catalog(row.NAME, row.LOCATION_URI, row.DESC, row.CREATE_TIME)


def names(connection: Connection) -> list[str]:
    """The names of all catalogs, sorted."""
    return list(connection.execute(select(CTLGS.c.NAME).order_by(by_bytes(connection, CTLGS.c.NAME))).scalars())


def insert_one(unit: Unit, catalog: Catalog) -> None:
    """Insert a catalog."""
    row = {"NAME": catalog.name, "DESC": catalog.description, "LOCATION_URI": catalog.location}
    unit.connection.execute(insert(CTLGS), {"CTLG_ID": _new_id(unit), "CREATE_TIME": unit.now_seconds, **row})


def replace(unit: Unit, catalog: Catalog) -> None:
    """Replace a catalog's description and location."""
    row = {"DESC": catalog.description, "LOCATION_URI": catalog.location}
    unit.connection.execute(update(CTLGS).where(CTLGS.c.NAME == catalog.name).values(row))


def remove(unit: Unit, name: str) -> None:
    """Remove a catalog, which must have no databases."""
    unit.connection.execute(delete(CTLGS).where(CTLGS.c.NAME == name))


def _new_id(unit: Unit) -> int:
    """A new catalog's id; beside a Hive from Hive's sequence, which ignores the catalog made by Hive's own script."""
    taken = set(unit.connection.execute(select(CTLGS.c.CTLG_ID)).scalars())
    if not unit.shape.beside_hive:
        return max(taken, default=0) + 1
    return next(catalog_id for catalog_id in unit.ids(ids.Sequence.CATALOG, len(taken) + 1) if catalog_id not in taken)
