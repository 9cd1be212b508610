"""Data connectors: Thrift structs <-> model, both directions side by side."""

from typing import Any

from hmstats.errors import InvalidObject
from hmstats.model.catalog.connectors import DataConnector
from hmstats.wire.idl import hive_metastore
from hmstats.wire.principals import principal_number, principal_type


def connector_from_thrift(struct: Any) -> DataConnector:
    """The connector in a struct. Raises InvalidObject when its name, type or URL is missing."""
    if struct is None or not struct.name or struct.type is None or struct.url is None:
        # Its parameters hold a password.
        found = "none" if struct is None else f"{struct.name!r}, {struct.type!r}, {struct.url!r}"
        raise InvalidObject(f"a data connector must have a name, a type and a URL, found {found}")
    return DataConnector(
        name=struct.name.strip().lower(),
        type=struct.type,
        url=struct.url,
        description=struct.description,
        parameters=dict(struct.parameters or {}),
        owner=struct.ownerName,
        owner_type=principal_type(struct.ownerType),
        created_seconds=struct.createTime,
    )


def connector_to_thrift(connector: DataConnector) -> Any:
    """The DataConnector struct."""
    return hive_metastore.DataConnector(
        name=connector.name,
        type=connector.type,
        url=connector.url,
        description=connector.description,
        parameters=dict(connector.parameters),
        ownerName=connector.owner,
        ownerType=principal_number(connector.owner_type),
        createTime=connector.created_seconds,
    )
