"""Calls about databases."""

from typing import Any

from hmstats.model.names import split_database
from hmstats.server.rpc import subject
from hmstats.server.session import Session
from hmstats.service.catalog.databases import Databases
from hmstats.wire.catalog import database_from_thrift, database_to_thrift


class DatabaseCalls:
    """create, get, alter and drop of databases."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def create_database(self, session: Session, database: Any) -> None:
        """Make a database."""
        self._databases.create(database_from_thrift(database))

    def get_database(self, session: Session, name: str) -> Any:
        """The database."""
        return database_to_thrift(self._databases.get(subject.database(name)))

    def get_database_req(self, session: Session, request: Any) -> Any:
        """The database."""
        return database_to_thrift(self._databases.get(subject.database(request.name, request.catalogName)))

    def get_databases(self, session: Session, pattern: str | None) -> list[str]:
        """The names that match `pattern`, which may begin with `@catalog#`."""
        catalog, names = split_database(pattern or "")
        return self._databases.names(catalog, names)

    def get_all_databases(self, session: Session) -> list[str]:
        """The names of all databases of the default catalog."""
        return self.get_databases(session, None)

    def alter_database(self, session: Session, dbname: str, db: Any) -> None:
        """Replace what a database says of itself."""
        self._databases.alter(subject.database(dbname), database_from_thrift(db))

    def drop_database(self, session: Session, name: str, deleteData: bool, cascade: bool) -> None:
        """Drop a database."""
        self._databases.drop(subject.database(name), delete_data=bool(deleteData), cascade=bool(cascade))
