"""Properties of the metastore by key: METASTORE_DB_PROPERTIES."""

from sqlalchemy import Connection, select
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
