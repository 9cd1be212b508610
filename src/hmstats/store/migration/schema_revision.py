"""The revision of a database's schema, and the newest one of the installation.

Every server asks for both when it starts, so Alembic, which takes long to import, is not needed for it: a migration's
file begins with its revision.
"""

from pathlib import Path

import structlog
from sqlalchemy import Connection, inspect, text

from hmstats.errors import SchemaError
from hmstats.resources import folder
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import Store, database_url

VERSION_TABLE = "HMSTATS_ALEMBIC_VERSION"
"""Alembic's table with the revision of the database."""

_log = structlog.get_logger("hmstats.store")


def head() -> str:
    """The newest revision."""
    revisions = _all_revisions()
    if not revisions:
        raise SchemaError("there are no migrations in the installation")
    return revisions[-1]


def current(url: str) -> str | None:
    """The revision of the database; None if it has no schema of hmstats."""
    if is_missing_file(url):
        return None
    store = Store.open(url, pool_size=1)
    try:
        with store.read() as connection:
            return revision_of(connection)
    finally:
        store.close()


def revision_of(connection: Connection) -> str | None:
    """The revision of a connection's database; None if it has no schema of hmstats."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.execute(text(f'SELECT version_num FROM "{VERSION_TABLE}"')).scalar()
    return revision


def require_current(store: Store) -> None:
    """Raise SchemaError unless the database is at the newest revision, or at the one after it."""
    with store.read() as connection:
        stored = revision_of(connection)
    if stored == head():
        return
    if is_next(stored):
        _log.warning("schema_is_newer", database=store.name, found=stored, own=head())
        return
    if stored is None or stored in _all_revisions():
        advice = "run `hmstats migrate --database URL` first"
    else:
        advice = "a newer version of hmstats made it"
    raise SchemaError(f"database {store.name} has schema {stored or 'none'}, this version needs {head()}: {advice}")


def require_known(connection: Connection) -> None:
    """Raise SchemaError for a database whose revision is newer than those of the installation."""
    stored = revision_of(connection)
    if stored is not None and stored not in _all_revisions():
        name = shown_url(connection.engine.url)
        raise SchemaError(
            f"database {name} cannot be migrated: its schema {stored} is of a newer version of hmstats than this one, "
            f"which has {head()}"
        )


def is_next(revision: str | None) -> bool:
    """Whether a revision is the next one after the newest here."""
    return revision is not None and revision.isdecimal() and int(revision) == int(head()) + 1


def _all_revisions() -> list[str]:
    """All revisions of the installation, from the first to the newest."""
    files = (folder("migrations") / "versions").glob("[0-9]*_*.py")
    return sorted(file.name.partition("_")[0] for file in files)


def require_database(url: str) -> None:
    """Raise SchemaError for an embedded database that is missing: who only looks must not make an empty one."""
    if is_missing_file(url):
        raise SchemaError(
            f"database {shown_url(database_url(url))} does not exist: `hmstats serve` makes it, or name another by "
            "--database or HMSTATS__DATABASE"
        )


def is_missing_file(url: str) -> bool:
    """Whether the URL names a missing SQLite file, which a connection would create."""
    parsed = database_url(url)
    return parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists()
