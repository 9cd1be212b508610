"""The index of locations, with which a drop finds other objects in a directory (store/storage/drop_locations.py).

It is built after the migrations, in no transaction, so that it blocks no writer. Without it drops are slower but as
correct; a Hive's tables never get it. SP-GiST indexes texts of any length.
"""

import structlog
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from hmstats.store.beside_hive import present_tables as shapes
from hmstats.store.connections.connections import connect_alone, database_url
from hmstats.store.schema.storage import LOCATION_INDEX

_WAIT_SECONDS = 60
_INVALID = text("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:name) AND NOT indisvalid")
_log = structlog.get_logger("hmstats.store")


def make(url: str) -> None:
    """Create the index unless it exists. If the database refuses now, the next migration tries again."""
    engine = connect_alone(database_url(url))
    try:
        with engine.connect() as connection:
            _make(connection)
    except DBAPIError as error:
        _log.warning("index_not_made", index=LOCATION_INDEX, reason=str(error.orig).strip())
    finally:
        engine.dispose()


def statement(dialect: str, *, concurrently: bool) -> str:
    """The SQL that creates the index."""
    method = "USING spgist " if dialect == "postgresql" else ""
    how = "CONCURRENTLY " if concurrently else ""
    return f'CREATE INDEX {how}IF NOT EXISTS "{LOCATION_INDEX}" ON "SDS" {method}("LOCATION")'


def is_there(connection: Connection) -> bool:
    """Whether the database has the index, whole or not."""
    return any(each["name"] == LOCATION_INDEX for each in inspect(connection).get_indexes("SDS"))


def _make(connection: Connection) -> None:
    dialect = connection.dialect.name
    if shapes.read(connection).beside_hive:
        return
    if dialect == "postgresql":
        connection.execute(text(f"SET lock_timeout = '{_WAIT_SECONDS}s'"))
        if connection.execute(_INVALID, {"name": f'"{LOCATION_INDEX}"'}).first():  # one that was interrupted
            connection.execute(text(f'DROP INDEX CONCURRENTLY "{LOCATION_INDEX}"'))
    connection.execute(text(statement(dialect, concurrently=dialect == "postgresql")))
