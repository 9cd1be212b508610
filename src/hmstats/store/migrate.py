"""The schema of a database: its revision, and the way to ours. The migrations themselves are in migrations/."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from hmstats.errors import SchemaError
from hmstats.resources import folder
from hmstats.store.engine import Store, database_url

VERSION_TABLE = "HMSTATS_ALEMBIC_VERSION"


def upgrade(url: str) -> None:
    """Bring the database to the newest revision. Raises SchemaError when another program's tables are in it."""
    with _connection(url) as connection:
        _refuse_foreign(connection)
        command.upgrade(_config(connection), "head")


def downgrade(url: str, revision: str) -> None:
    """Take the database back to a revision; `base` is before the first."""
    with _connection(url) as connection:
        command.downgrade(_config(connection), revision)


def current(url: str) -> str | None:
    """The revision of the database; None when it has no schema of ours."""
    with _connection(url) as connection:
        return revision_of(connection)


def head() -> str:
    """The newest revision."""
    newest = ScriptDirectory.from_config(_config(None)).get_current_head()
    if newest is None:
        raise SchemaError("there are no migrations in the installation")
    return newest


def sql(url: str) -> str:
    """The SQL that makes the whole schema in an empty database of the URL's kind, for a person to run."""
    config = _config(None)
    config.output_buffer = io.StringIO()
    # Alembic's configuration is a ConfigParser: a percent sign of the URL must be doubled.
    config.set_main_option("sqlalchemy.url", database_url(url).render_as_string(hide_password=True).replace("%", "%%"))
    command.upgrade(config, "head", sql=True)
    return config.output_buffer.getvalue()


def require_current(store: Store) -> None:
    """Raises SchemaError unless the database is at the newest revision."""
    with store.read() as connection:
        found = revision_of(connection)
    if found != head():
        raise SchemaError(
            f"database {store.name} has schema {found or 'none'}, this version needs {head()}: "
            "run `hmstats migrate --database URL` first"
        )


def revision_of(connection: Connection) -> str | None:
    """The revision that a connection's database is at; None when it has no schema of ours."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return context.get_current_revision()


def _refuse_foreign(connection: Connection) -> None:
    tables = set(inspect(connection).get_table_names())
    if "TBLS" in tables and VERSION_TABLE not in tables:
        raise SchemaError(
            f"database {connection.engine.url.render_as_string(hide_password=True)} has another metastore's tables "
            "(TBLS, but no revision of ours): hmstats does not share such a database yet, and nothing was changed"
        )


def _config(connection: Connection | None) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder("migrations")).replace("%", "%%"))
    return config


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    """One transaction of an engine that lives no longer."""
    store = Store.open(url, pool_size=1)
    try:
        with store.transaction() as connection:
            yield connection
    finally:
        store.close()
