"""The connection to the database, and its two ways in: `read`, one consistent picture, and `write`, one transaction.

A write is retried when the database says that another writer was in the way (deadlock, serialisation, a key that
someone took a moment ago, SQLite busy) or when the connection had died before the commit. A work function may
therefore run more than once and must change nothing but the database.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from hmstats.errors import MetaError, SettingsError, StoreUnavailable
from hmstats.store.ids import Ids
from hmstats.store.unit import Unit

Result = TypeVar("Result")

_ATTEMPTS = 8
_FIRST_PAUSE_SECONDS = 0.01
_RETRIED_STATES = frozenset({"40001", "40P01", "55P03", "23505"})
"""PostgreSQL: serialisation failure, deadlock, lock not available, unique violation."""

_CONNECT_SECONDS = 10
_WRITES = "hmstats_writes"


class Store:
    """A database that can be read and written by many threads at once."""

    def __init__(self, engine: Engine, *, clock: Callable[[], float] = time.time) -> None:
        self.engine = engine
        self.name = engine.url.render_as_string(hide_password=True)
        self._clock = clock
        self._ids = Ids(engine)
        self._reader: Engine
        self._writer: Engine
        if engine.dialect.name == "sqlite":
            self._reader, self._writer = engine, engine.execution_options(**{_WRITES: True})
        else:
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            self._writer = engine

    @classmethod
    def open(
        cls,
        url: str,
        *,
        pool_size: int = 8,
        statement_seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> "Store":
        """A store at a URL, sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME. Raises SettingsError."""
        parsed = database_url(url)
        options: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 2, "pool_timeout": statement_seconds}
        if parsed.get_backend_name() == "sqlite":
            engine = create_engine(parsed, connect_args={"timeout": statement_seconds}, **options)
            _prepare_sqlite(engine)
        else:
            milliseconds = int(statement_seconds * 1000)
            arguments = {"connect_timeout": _CONNECT_SECONDS, "options": f"-c statement_timeout={milliseconds}"}
            engine = create_engine(parsed, connect_args=arguments, **options)
        return cls(engine, clock=clock)

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent picture of the database. Raises StoreUnavailable when the database is away."""
        try:
            with self._reader.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._translated(error) from error

    def write(self, work: Callable[[Unit], Result]) -> Result:
        """What `work` returns, after its changes were committed together; an error it raises undoes them all.

        Raises StoreUnavailable when the database is away, MetaError when it refuses the change.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._writer.begin() as connection:
                    return work(Unit(connection, int(self._clock()), self._ids))
            except SQLAlchemyError as error:
                if attempt == _ATTEMPTS or not _worth_another_try(error):
                    raise self._translated(error) from error
            # Waiting a random while keeps two writers from meeting again.
            time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt * random.random())
        raise AssertionError("unreachable: the last attempt returns or raises")

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction for a schema change, without a second try. Raises as `write` does."""
        try:
            with self._writer.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._translated(error) from error

    def _translated(self, error: SQLAlchemyError) -> MetaError:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        if isinstance(error, IntegrityError):
            return MetaError(f"database {self.name} refuses the change: {reason}")
        if isinstance(error, DBAPIError) and not _is_away(error):
            return MetaError(f"database {self.name} refuses the statement: {reason}")
        return StoreUnavailable(f"database {self.name} does not answer: {reason}")


def database_url(url: str) -> URL:
    """A URL that names its driver. Raises SettingsError for one that is neither SQLite's nor PostgreSQL's."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise SettingsError(f"database must be a URL such as sqlite:///FILE, found {url!r}") from error
    if backend in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg2")
    if backend != "sqlite":
        raise SettingsError(f"database must be sqlite:///FILE or postgresql://..., found {backend}://...")
    if not parsed.database or parsed.database == ":memory:":
        raise SettingsError("an SQLite database must be a file, since several threads share it: sqlite:///FILE")
    return parsed


def _prepare_sqlite(engine: Engine) -> None:
    """Readers that do not wait for the writer, foreign keys, and transactions that begin when we say so."""

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins none by itself
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _worth_another_try(error: SQLAlchemyError) -> bool:
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "pgcode", None)
    return error.connection_invalidated or state in _RETRIED_STATES or "database is locked" in str(error.orig)


def _is_away(error: DBAPIError) -> bool:
    state = getattr(error.orig, "pgcode", None) or ""
    lost = error.connection_invalidated or state.startswith(("08", "57", "53"))
    return lost or (not state and type(error).__name__ in ("OperationalError", "InterfaceError"))
