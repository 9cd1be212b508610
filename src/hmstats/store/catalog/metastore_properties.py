"""Properties of the metastore by key: METASTORE_DB_PROPERTIES."""

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.schema import METASTORE_DB_PROPERTIES as PROPERTIES
from hmstats.store.unit.unit import Unit


def get(connection: Connection, key: str) -> str | None:
    """The property's value; None if it is unset."""
    query = select(PROPERTIES.c.PROPERTY_VALUE).where(PROPERTIES.c.PROPERTY_KEY == key)
    return connection.execute(query).scalar_one_or_none()


def add(unit: Unit, key: str, value: str, description: str) -> str:
    """Insert a property unless it is set. Returns the stored value, which may be another writer's."""
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    row = {"PROPERTY_KEY": key, "PROPERTY_VALUE": value, "DESCRIPTION": description}
    unit.connection.execute(dialect.insert(PROPERTIES).values(row).on_conflict_do_nothing())
    return get(unit.connection, key) or value


def with_prefix(connection: Connection, prefix: str) -> dict[str, str]:
    """The properties whose keys begin with a prefix: their values by the rest of the key."""
    query = select(PROPERTIES.c.PROPERTY_KEY, PROPERTIES.c.PROPERTY_VALUE)
    rows = connection.execute(query.where(PROPERTIES.c.PROPERTY_KEY.startswith(prefix, autoescape=True)))
    return {key.removeprefix(prefix): value for key, value in rows if key.startswith(prefix)}


def replace(unit: Unit, key: str, old: str, new: str | None) -> bool:
    """Set a property that has the old value, or unset it (None). Returns whether it had the old value."""
    here = PROPERTIES.c.PROPERTY_KEY == key, PROPERTIES.c.PROPERTY_VALUE == old
    if new is None:
        return unit.connection.execute(delete(PROPERTIES).where(*here)).rowcount == 1
    return unit.connection.execute(update(PROPERTIES).where(*here).values(PROPERTY_VALUE=new)).rowcount == 1
