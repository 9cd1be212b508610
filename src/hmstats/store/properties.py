"""What the metastore says of itself, key by key: METASTORE_DB_PROPERTIES."""

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.schema import METASTORE_DB_PROPERTIES as PROPERTIES
from hmstats.store.unit import Unit


def get(connection: Connection, key: str) -> str | None:
    """The property's value, or None."""
    query = select(PROPERTIES.c.PROPERTY_VALUE).where(PROPERTIES.c.PROPERTY_KEY == key)
    return connection.execute(query).scalar_one_or_none()


def add(unit: Unit, key: str, value: str, description: str) -> str:
    """Write a property unless it is there already; the value that is there now, perhaps another writer's."""
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    row = {"PROPERTY_KEY": key, "PROPERTY_VALUE": value, "DESCRIPTION": description}
    unit.connection.execute(dialect.insert(PROPERTIES).values(row).on_conflict_do_nothing())
    return get(unit.connection, key) or value
