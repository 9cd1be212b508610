"""What a call is about: the name in its arguments, lower-cased, and noted for the call's log line."""

from typing import TypeVar

from structlog.contextvars import bind_contextvars

from hmstats.errors import InvalidInput, MetaError
from hmstats.model import names
from hmstats.model.catalog import DatabaseName, TableName
from hmstats.server.session import Session

Name = TypeVar("Name", DatabaseName, TableName)


def database(name: str | None, catalog: str | None = None) -> DatabaseName:
    """The database that a call names. Raises MetaError when it names none."""
    if name is None:
        raise MetaError("a database's name must be a text, found none")
    return noted(names.database_name(name, catalog))


def table(database: str | None, table: str | None, catalog: str | None = None) -> TableName:
    """The table that a call names. Raises MetaError when it names none."""
    if database is None or table is None:
        raise MetaError(f"a table's database and name must be texts, found {database} and {table}")
    return noted(names.table_name(database, table, catalog))


def column(name: str | None) -> str:
    """The column that a call names. Raises InvalidInput when it names none."""
    if not isinstance(name, str):
        raise InvalidInput("a column's name must be a text, found none")
    return name.lower()


def author(session: Session) -> str:
    """Who makes a call: the name that the client gave itself, else its address."""
    return session.user or session.peer.rpartition(":")[0]


def noted(name: Name) -> Name:
    """The same name, now in the call's log line."""
    bind_contextvars(object=str(name))
    return name
