"""Creates and upgrades the schema of a database. The migrations themselves are in migrations/.

Revisions are numbered. A server serves a database at its own revision or at the next one, so that a database is
migrated first and its servers are replaced one by one afterwards. Migrations allow that: everything that the version
before uses remains, and no large table is locked for long (tests/store/migration/test_migration_locks.py holds it).
"""

import io
from collections.abc import Callable

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.schema import CreateSchema

from hmstats.errors import SchemaError
from hmstats.resources import folder
from hmstats.store.beside_hive import present_tables as shapes
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import Store, database_url
from hmstats.store.migration import location_index, schema_revision
from hmstats.store.migration.only_ours import only_ours
from hmstats.store.migration.schema_revision import VERSION_TABLE, is_next, require_known, revision_of
from hmstats.store.schema import METADATA
from hmstats.store.unit.unit import Unit

_STATEMENT_SECONDS = 600.0
"""Timeout of a statement; a migration may rewrite a large table."""
_LOCK = 0x686D7374617473  # "hmstats"
_LOCK_SECONDS = 5
"""Timeout of a lock: a migration that waits for a table blocks all later users of it, so it gives up and retries."""


def upgrade(url: str) -> None:
    """Upgrade the database to the newest revision, all or nothing; beside a Hive only our own tables are changed.

    A database that is one revision newer is not changed. Raises SchemaError if it contains another program's tables,
    or if a still newer version made its schema.
    """

    def work(connection: Connection) -> None:
        _refuse_foreign(connection)
        if is_next(revision_of(connection)):
            return
        require_known(connection)
        if _is_of_hive(connection):
            only_ours(connection)
        command.upgrade(_config(connection), "head")

    in_one_migration(url, work)
    location_index.make(url)


def adopt(url: str, schema: str | None = None) -> None:
    """Create our own tables in a Hive's database, or upgrade them to the newest revision; changes nothing else.

    `schema` is created if it is missing; the URL must say that tables are created in it (jdbc.with_schema).
    Raises SchemaError if the database does not belong to a supported Hive.
    """

    def work(connection: Connection) -> None:
        if not shapes.read(connection).beside_hive:
            raise SchemaError(f"database {_name(connection)} is not the database of a Hive Metastore")
        only_ours(connection)
        command.upgrade(_config(connection), "head")

    if schema is not None:
        in_one_migration(url, lambda connection: connection.execute(CreateSchema(schema, if_not_exists=True)))
    in_one_migration(url, work)


def downgrade(url: str, revision: str) -> None:
    """Downgrade the database to a revision; `base` is before the first. Raises SchemaError if it is unknown."""

    def work(connection: Connection) -> None:
        if _is_of_hive(connection):
            only_ours(connection)
        command.downgrade(_config(connection), revision)

    in_one_migration(url, work)


def missing_sql(url: str) -> str:
    """The SQL that upgrades this database, for a person to run.

    Raises StoreUnavailable if it does not answer, SchemaError for another program's and for a Hive's, of which
    only a part is upgraded, and for one of a newer version.
    """

    def missing(connection: Connection) -> str:
        _refuse_foreign(connection)
        if _is_of_hive(connection):
            raise SchemaError(
                f"database {_name(connection)} is of a Hive: `hmstats adopt --write` makes our tables there"
            )
        require_known(connection)
        revision = revision_of(connection)
        if revision == schema_revision.head() and location_index.is_there(connection):
            return ""
        return sql(url, revision)

    if schema_revision.is_missing_file(url):
        return sql(url)
    store = Store.open(url, pool_size=1, read_only=True)
    try:
        with store.read() as connection:
            return missing(connection)
    finally:
        store.close()


def sql(url: str, revision: str | None = None) -> str:
    """The SQL that upgrades a database of the URL's kind from a revision (None: an empty one), for a person to run."""
    written = io.StringIO()
    config = _config(None)
    config.attributes["dialect"] = database_url(url).get_backend_name()
    config.output_buffer = written
    command.upgrade(config, "head" if revision is None else f"{revision}:head", sql=True)
    index = location_index.statement(config.attributes["dialect"], concurrently=False)
    return f"{written.getvalue()}\n{index};\n"


def _refuse_foreign(connection: Connection) -> None:
    tables = set(inspect(connection).get_table_names())
    foreign = sorted(tables & METADATA.tables.keys())
    if foreign and VERSION_TABLE not in tables:
        raise SchemaError(
            f"database {_name(connection)} has tables that hmstats did not make ({', '.join(foreign[:3])} ...): "
            "it belongs to another metastore, and nothing was changed; `hmstats adopt` says what can be done"
        )


def _name(connection: Connection) -> str:
    return shown_url(connection.engine.url)


def _is_of_hive(connection: Connection) -> bool:
    try:
        return shapes.read(connection).beside_hive
    except SchemaError:
        return True


def _config(connection: Connection | None) -> Config:
    config = Config(attributes={"connection": connection})
    # Alembic's configuration is a ConfigParser: a percent sign must be doubled.
    config.set_main_option("script_location", str(folder("migrations")).replace("%", "%%"))
    return config


def in_one_migration(url: str, work: Callable[[Connection], object]) -> None:
    """Run `work` in one transaction, under a lock so that two migrations of one database do not run at once."""
    store = Store.open(url, pool_size=1, statement_seconds=_STATEMENT_SECONDS)

    def locked(unit: Unit) -> None:
        if unit.connection.dialect.name == "postgresql":
            unit.connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            unit.connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
        work(unit.connection)

    try:
        store.write(locked)
    except CommandError as error:
        raise SchemaError(f"database {store.name} cannot be migrated: {error}") from error
    finally:
        store.close()
