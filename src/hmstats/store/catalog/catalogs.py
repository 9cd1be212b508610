"""Catalogs: CTLGS and CATALOG_PARAMS."""

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.model.catalog.objects import Catalog
from hmstats.store.schema import CTLGS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_CATALOGS
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit


def get(connection: Connection, name: str) -> Catalog | None:
    """The catalog; None if it does not exist."""
    row = connection.execute(select(CTLGS).where(CTLGS.c.NAME == name)).one_or_none()
    if row is None:
        return None
    own = parameters.read(connection, OF_CATALOGS, [row.CTLG_ID]).get(row.CTLG_ID, {})
    return Catalog(row.NAME, row.LOCATION_URI, row.DESC, row.CREATE_TIME, own)


def names(connection: Connection) -> list[str]:
    """The names of all catalogs, sorted."""
    return list(connection.execute(select(CTLGS.c.NAME).order_by(by_bytes(connection, CTLGS.c.NAME))).scalars())


def insert_one(unit: Unit, catalog: Catalog) -> None:
    """Insert a catalog. Raises MetaError for parameters beside a Hive before 4.2, which has no table for them."""
    row = {"NAME": catalog.name, "DESC": catalog.description, "LOCATION_URI": catalog.location}
    catalog_id = _new_id(unit)
    unit.connection.execute(insert(CTLGS), {"CTLG_ID": catalog_id, "CREATE_TIME": unit.now_seconds, **row})
    parameters.add(unit, OF_CATALOGS, {catalog_id: catalog.parameters or {}})


def replace(unit: Unit, catalog: Catalog) -> None:
    """Replace a catalog's description and location, and its parameters if they are given.

    Raises MetaError as `insert_one`.
    """
    row = {"DESC": catalog.description, "LOCATION_URI": catalog.location}
    unit.connection.execute(update(CTLGS).where(CTLGS.c.NAME == catalog.name).values(row))
    if catalog.parameters is not None:
        parameters.replace(unit, OF_CATALOGS, {_id(unit, catalog.name): catalog.parameters})


def remove(unit: Unit, name: str) -> None:
    """Remove a catalog, which must have no databases."""
    parameters.remove(unit, OF_CATALOGS, [_id(unit, name)])
    unit.connection.execute(delete(CTLGS).where(CTLGS.c.NAME == name))


def _id(unit: Unit, name: str) -> int:
    catalog_id: int = unit.connection.execute(select(CTLGS.c.CTLG_ID).where(CTLGS.c.NAME == name)).scalar_one()
    return catalog_id


def _new_id(unit: Unit) -> int:
    """A new catalog's id; beside a Hive from Hive's sequence, which ignores the catalog made by Hive's own script."""
    taken = set(unit.connection.execute(select(CTLGS.c.CTLG_ID)).scalars())
    if not unit.shape.beside_hive:
        return max(taken, default=0) + 1
    return next(catalog_id for catalog_id in unit.ids(ids.Sequence.CATALOG, len(taken) + 1) if catalog_id not in taken)
