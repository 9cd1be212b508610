"""Data connectors: DATACONNECTORS and their parameters in DATACONNECTOR_PARAMS."""

from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.model.catalog.connectors import DataConnector
from hmstats.store.schema import DATACONNECTOR_PARAMS, DATACONNECTORS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.unit.unit import Unit


def get(connection: Connection, name: str) -> DataConnector | None:
    """The connector; None if it does not exist."""
    row = connection.execute(select(DATACONNECTORS).where(DATACONNECTORS.c.NAME == name)).one_or_none()
    if row is None:
        return None
    p = DATACONNECTOR_PARAMS.c
    parameters = connection.execute(select(p.PARAM_KEY, p.PARAM_VALUE).where(p.NAME == name))
    return DataConnector(
        name=row.NAME,
        type=row.TYPE,
        url=row.URL,
        description=row.COMMENT,
        parameters={key: value or "" for key, value in parameters},
        owner=row.OWNER_NAME,
        owner_type=row.OWNER_TYPE,
        created_seconds=row.CREATE_TIME,
    )


def names(connection: Connection) -> list[str]:
    """The names of all connectors, sorted."""
    query = select(DATACONNECTORS.c.NAME).order_by(by_bytes(connection, DATACONNECTORS.c.NAME))
    return list(connection.execute(query).scalars())


def insert_one(unit: Unit, connector: DataConnector) -> None:
    """Insert a connector."""
    unit.connection.execute(insert(DATACONNECTORS), _row(connector))
    _insert_parameters(unit, connector)


def replace(unit: Unit, connector: DataConnector) -> None:
    """Replace a connector's properties and parameters."""
    here = DATACONNECTORS.c.NAME == connector.name
    unit.connection.execute(update(DATACONNECTORS).where(here).values(_row(connector)))
    _remove_parameters(unit, connector.name)
    _insert_parameters(unit, connector)


def remove(unit: Unit, name: str) -> None:
    """Remove a connector."""
    _remove_parameters(unit, name)
    unit.connection.execute(delete(DATACONNECTORS).where(DATACONNECTORS.c.NAME == name))


def _remove_parameters(unit: Unit, name: str) -> None:
    unit.connection.execute(delete(DATACONNECTOR_PARAMS).where(DATACONNECTOR_PARAMS.c.NAME == name))


def _insert_parameters(unit: Unit, connector: DataConnector) -> None:
    rows = [
        {"NAME": connector.name, "PARAM_KEY": key, "PARAM_VALUE": value}
        for key, value in sorted(connector.parameters.items())
    ]
    if rows:
        unit.connection.execute(insert(DATACONNECTOR_PARAMS), rows)


def _row(connector: DataConnector) -> dict[str, Any]:
    return {
        "NAME": connector.name,
        "TYPE": connector.type,
        "URL": connector.url,
        "COMMENT": connector.description,
        "OWNER_NAME": connector.owner,
        "OWNER_TYPE": connector.owner_type,
        "CREATE_TIME": connector.created_seconds or 0,
    }
