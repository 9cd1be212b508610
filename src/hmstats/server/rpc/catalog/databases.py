"""Calls about databases."""

from typing import Any

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.names import split_database
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.databases.databases import Databases
from hmstats.wire.catalog.objects import database_from_thrift, database_to_thrift
from hmstats.wire.idl import hive_metastore


class DatabaseCalls:
    """create, get, alter and drop of databases."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def create_database(self, session: Session, database: Any) -> None:
        """Make a database."""
        self._databases.create(database_from_thrift(database))

    def create_database_req(self, session: Session, createDatabaseRequest: Any) -> None:
        """Make a database."""
        request = createDatabaseRequest
        database = hive_metastore.Database(
            name=request.databaseName,
            description=request.description,
            locationUri=request.locationUri,
            parameters=request.parameters,
            ownerName=request.ownerName,
            ownerType=request.ownerType,
            catalogName=request.catalogName,
            managedLocationUri=request.managedLocationUri,
            type=request.type,
            connector_name=request.dataConnectorName,
            remote_dbname=request.remote_dbname,
        )
        self.create_database(session, database)

    def get_database(self, session: Session, name: str) -> Any:
        """The database."""
        return database_to_thrift(self._databases.get(subject.database(name)))

    def get_database_req(self, session: Session, request: Any) -> Any:
        """The database."""
        return database_to_thrift(self._databases.get(subject.database(request.name, request.catalogName)))

    def get_databases(self, session: Session, pattern: str | None) -> list[str]:
        """The names that match `pattern`, which may begin with `@catalog#`."""
        if pattern is None:
            return self.get_all_databases(session)
        catalog, names = split_database(pattern)
        return self._databases.names(catalog, names)

    def get_all_databases(self, session: Session) -> list[str]:
        """The names of all databases of the default catalog."""
        return self._databases.names(DEFAULT_CATALOG)

    def get_databases_req(self, session: Session, request: Any) -> Any:
        """The databases whose names match the request's pattern."""
        found = self._databases.matching((request.catalogName or DEFAULT_CATALOG).lower(), request.pattern)
        return hive_metastore.GetDatabaseObjectsResponse(databases=[database_to_thrift(each) for each in found])

    def alter_database(self, session: Session, dbname: str, db: Any) -> None:
        """Replace a database's description, parameters, owner and location."""
        self._databases.alter(subject.database(dbname), database_from_thrift(db))

    def alter_database_req(self, session: Session, alterDbReq: Any) -> None:
        """Replace a database's description, parameters, owner and location."""
        self.alter_database(session, alterDbReq.oldDbName, alterDbReq.newDb)

    def drop_database_req(self, session: Session, req: Any) -> None:
        """Drop a database; one that is not there is no error when the request says so."""
        name = subject.database(req.name, req.catalogName)
        try:
            self._databases.drop(name, delete_data=bool(req.deleteData), cascade=bool(req.cascade))
        except NoSuchObject:
            if not req.ignoreUnknownDb:
                raise

    def drop_database(self, session: Session, name: str, deleteData: bool, cascade: bool) -> None:
        """Drop a database."""
        self._databases.drop(subject.database(name), delete_data=bool(deleteData), cascade=bool(cascade))
