"""Calls about data connectors."""

from typing import Any

from hmstats.errors import MetaError
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.databases.connectors import Connectors
from hmstats.wire.catalog.connectors import connector_from_thrift, connector_to_thrift


class ConnectorCalls:
    """create, get, alter and drop of data connectors."""

    def __init__(self, connectors: Connectors) -> None:
        self._connectors = connectors

    def create_dataconnector(self, session: Session, connector: Any) -> None:
        """Make a data connector; its source is never connected to."""
        self._connectors.create(connector_from_thrift(connector))

    def create_dataconnector_req(self, session: Session, connectorReq: Any) -> None:
        """Make a data connector; its source is never connected to."""
        self.create_dataconnector(session, connectorReq.connector)

    def get_dataconnector_req(self, session: Session, request: Any) -> Any:
        """The data connector."""
        return connector_to_thrift(self._connectors.get(_required_name(request.connectorName)))

    def get_dataconnectors(self, session: Session) -> list[str]:
        """The names of all data connectors."""
        return self._connectors.names()

    def alter_dataconnector(self, session: Session, name: str | None, connector: Any) -> None:
        """Replace a data connector's URL, parameters and owner."""
        self._connectors.alter(_required_name(name), connector_from_thrift(connector))

    def alter_dataconnector_req(self, session: Session, alterReq: Any) -> None:
        """Replace a data connector's URL, parameters and owner."""
        self.alter_dataconnector(session, alterReq.connectorName, alterReq.newConnector)

    def drop_dataconnector(
        self, session: Session, name: str | None, ifNotExists: bool | None, checkReferences: bool | None
    ) -> None:
        """Drop a data connector; one that is not there is no error when the call says so."""
        self._connectors.drop(_required_name(name), missing_is_fine=bool(ifNotExists))

    def drop_dataconnector_req(self, session: Session, dropDcReq: Any) -> None:
        """Drop a data connector; one that is not there is no error when the request says so."""
        self.drop_dataconnector(session, dropDcReq.connectorName, dropDcReq.ifNotExists, dropDcReq.checkReferences)


def _required_name(name: str | None) -> str:
    if name is None:
        raise MetaError("a data connector's name must be a text, found none")
    return name.strip().lower()
