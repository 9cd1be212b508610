"""The object that a call is about: the name in its arguments, in lower case, which is added to the call's log line."""

from typing import TypeVar

from structlog.contextvars import bind_contextvars

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog import names
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.server.rpc.caller import Session

_MOST_LOGGED = 1_000
"""Characters of a name in the log; stored ones have fewer, and clients choose names."""

Name = TypeVar("Name", DatabaseName, TableName)


def database(name: str | None, catalog: str | None = None) -> DatabaseName:
    """The database that a call names. Raises MetaError when it names none."""
    if name is None:
        raise MetaError("a database's name must be a text, found none")
    return add_to_log(names.database_name(name, catalog))


def table(database: str | None, table: str | None, catalog: str | None = None) -> TableName:
    """The table that a call names. Raises MetaError when it names none."""
    if database is None or table is None:
        raise MetaError(f"a table's database and name must be texts, found {database} and {table}")
    return add_to_log(names.table_name(database, table, catalog))


def column(name: str | None) -> str:
    """The column that a call names. Raises InvalidInput when it names none."""
    if not isinstance(name, str):
        raise InvalidInput("a column's name must be a text, found none")
    return name.lower()


def author(session: Session) -> str:
    """The author of a call: the client's user if it named one, else its address."""
    return session.user or session.peer.rpartition(":")[0]


def add_to_log(name: Name) -> Name:
    """Add a name to the call's log line, and return it."""
    bind_contextvars(object=str(name)[:_MOST_LOGGED])
    return name
