"""Connections to a database: its URL, and pools that read, write, allocate ids, and check versions.

Reading connections begin every transaction as a consistent, read-only snapshot; the setting is made once for each
connection, so that it costs no round trip for each call. Ids have a pool of their own, since a writer allocates them
while it holds a connection: with one pool for both, writers could deadlock. Checking connections send
single statements without a transaction, so that a check is one round trip; one more, without a pool, does
so for a thread that must not block (version_line.py). Writing connections begin and end transactions together with
other statements (writing_connection.py), and hold a claim on the database (claims.py).
"""

import hashlib
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import URL, Connection, Engine, ExecutionContext, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError

from hmstats.errors import SettingsError
from hmstats.private_files import make_private
from hmstats.store.beside_hive.adapted_statements import adapt
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.connections.bound_values import check_parameters
from hmstats.store.connections.claims import Claims, has_input
from hmstats.store.connections.lost_commits import LostCommitDetector
from hmstats.store.connections.traced_cursors import postgres_arguments, sqlite_arguments
from hmstats.store.connections.writing_connection import WritingConnection

_BATCH_ROWS = 1_000
_LEAST_SQLITE = (3, 35)
"""The first version with RETURNING."""
_CONNECT_SECONDS = 10
_SCHEMAS = "currentSchema"
UNIT = "hmstats_unit"
"""The execution option of a writing connection with its unit."""
_OPTIONS = "options"
_EXACT = r"-c extra_float_digits=3 -c default_transaction_isolation=read\ committed"
"""What every session relies on, whatever the defaults of the database and its role: all digits of a double, as Hive's
driver asks for, and that a writer that has waited for a lock sees what the other wrote."""
_PLANS = "-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1"
"""Planner settings for many short statements: JIT and parallel workers would only take the processors from others.

Pages read at random are mostly in memory; by default PostgreSQL assumes a spinning disk, and scans whole tables.
"""
_PREPARED_PLANS = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
"""Planner settings for prepared statements, which find rows by keys; they may be planned while tables are empty."""
_UNTESTED_IDLE_SECONDS = 5.0
"""Longest idle time without a test of the connection before its use: the database may be gone silently."""


@dataclass(frozen=True, slots=True)
class Pools:
    """The engines over one database. SQLite allocates ids in the writer's transaction, and has no pool for them."""

    readers: Engine
    writers: Engine
    allocators: Engine
    checkers: Engine
    claims: Claims
    lost_commits: LostCommitDetector
    line: Mapping[str, Any] | None = None
    """The driver's arguments for the asynchronous connection that checks versions; None for SQLite."""

    def adapt(self, shape: Shape) -> None:
        """Adapt all statements to a database of this shape."""
        for engine in (self.readers, self.writers, self.allocators, self.checkers):
            adapt(engine, shape)

    def close(self) -> None:
        """Close every connection."""
        self.claims.release()
        for engine in (self.readers, self.writers, self.allocators, self.checkers):
            engine.dispose()


def database_url(url: str) -> URL:
    """The URL with its driver. Raises SettingsError if it is neither SQLite's nor PostgreSQL's."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise SettingsError("database must be a URL such as sqlite:///FILE, found a text that is no URL") from error
    backend = parsed.get_backend_name()
    if parsed.host and "@" in parsed.host:  # the end of a password, which an error must not show
        raise SettingsError("database must be a URL with one @, found more: a password has %40 for each of its own")
    if backend in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg2")
    if backend != "sqlite":
        raise SettingsError(f"database must be sqlite:///FILE or postgresql://..., found {backend}://...")
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        raise SettingsError(
            f"this Python's SQLite must be {_LEAST_SQLITE[0]}.{_LEAST_SQLITE[1]} or newer, found "
            f"{sqlite3.sqlite_version}: another Python, or PostgreSQL, can keep the database"
        )
    path = parsed.database or ":memory:"
    if path == ":memory:" or path.startswith("file:"):
        raise SettingsError(f"an SQLite database must be a file, since several threads share it, found {path}")
    return parsed.set(drivername="sqlite+pysqlite")


def connect(url: URL, pool_size: int, statement_seconds: float) -> Pools:
    """Create the pools, which connect at their first use.

    PostgreSQL's URL may name schemas to search for tables, ?currentSchema=A,B as in JDBC; new tables are created in
    the first. What it says of a session by libpq's parameters wins over what is set here. `statement_seconds` is the
    timeout of a statement, and of the wait for a connection.
    """
    if url.get_backend_name() == "sqlite":
        readers, writers = (_sqlite(url, pool_size, statement_seconds) for _ in range(2))
        check_parameters(readers)
        check_parameters(writers)
        _begin_with(readers, "BEGIN", query_only=True)
        _begin_with(writers, "BEGIN IMMEDIATE", query_only=False)
        return Pools(readers, writers, writers, readers, Claims(writers, readers), LostCommitDetector())
    readers = _postgres(url, pool_size, statement_seconds)
    writers = _postgres(url, pool_size, statement_seconds, _PREPARED_PLANS, connection_factory=WritingConnection)
    writers.dialect.supports_server_side_cursors = False
    checkers = _postgres(url, pool_size, statement_seconds, _PREPARED_PLANS)
    line = _arguments(url, statement_seconds, _PREPARED_PLANS)
    check_parameters(readers)
    check_parameters(writers)
    event.listen(writers, "before_cursor_execute", _by_unit, retval=True)
    event.listen(readers, "connect", _read_snapshots)
    event.listen(checkers, "connect", _commit_each_statement)
    claims, lost_commits = Claims(writers, checkers), LostCommitDetector()
    allocators = _postgres(url, 1, statement_seconds)
    for engine in (readers, writers, allocators, checkers):
        event.listen(engine, "connect", partial(_check_stamp, lost_commits))
    return Pools(readers, writers, allocators, checkers, claims, lost_commits, line)


def _sqlite(url: URL, pool_size: int, statement_seconds: float) -> Engine:
    arguments = {"timeout": statement_seconds, **sqlite_arguments()}
    engine = create_engine(
        url, connect_args=arguments, pool_size=pool_size, max_overflow=0, pool_timeout=statement_seconds
    )

    @event.listens_for(engine, "do_connect")
    def on_new(_dialect: object, _record: object, arguments_in_order: list[Any], _named: object) -> None:
        make_private(arguments_in_order[0])  # SQLite creates its other files with the same mode

    return engine


def _begin_with(engine: Engine, statement: str, *, query_only: bool) -> None:
    """Configure SQLite: WAL so that readers do not wait for writers, foreign keys, and explicit transactions."""

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins none by itself
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA case_sensitive_like = ON")  # as everywhere else
        connection.execute(f"PRAGMA query_only = {query_only}")
        connection.create_function("sha256", 1, _sha256, deterministic=True)  # PostgreSQL has it

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)


def _sha256(value: bytes | None) -> bytes | None:
    return None if value is None else hashlib.sha256(value).digest()


def _postgres(url: URL, pool_size: int, statement_seconds: float, options: str = "", **of_driver: Any) -> Engine:
    engine = create_engine(
        url.difference_update_query([_SCHEMAS]),
        connect_args={**_session(url, statement_seconds, options), **(of_driver or postgres_arguments())},
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=statement_seconds,
        executemany_mode="values_plus_batch",  # many updates in one round trip, as many inserts are
        executemany_batch_page_size=_BATCH_ROWS,
    )
    _test_idle_connections(engine)
    return engine


def connect_alone(url: URL) -> Engine:
    """An engine of one connection, whose statements are a transaction each, and have no timeout."""
    if url.get_backend_name() == "sqlite":
        return create_engine(url, isolation_level="AUTOCOMMIT")
    return _postgres(url, 1, 0).execution_options(isolation_level="AUTOCOMMIT")


def _arguments(url: URL, statement_seconds: float, options: str) -> Mapping[str, Any]:
    """The driver's arguments for a connection outside of the pools."""
    dialect = url.get_dialect()()
    (_, of_url) = dialect.create_connect_args(url.difference_update_query([_SCHEMAS]))
    return {**of_url, **_session(url, statement_seconds, options)}


def _session(url: URL, statement_seconds: float, options: str) -> dict[str, Any]:
    """The settings of a session with PostgreSQL; those that the URL has are the URL's."""
    milliseconds = int(statement_seconds * 1000)
    schemas = url.query.get(_SCHEMAS)
    if schemas:
        options = f"{options} -c search_path={schemas}"
    if given := url.normalized_query.get(_OPTIONS):
        options = f"{options} {' '.join(given)}"
    settings = {
        "application_name": "hmstats",
        "client_encoding": "utf8",  # as Hive sets, whatever the encoding of the database
        "connect_timeout": _CONNECT_SECONDS,
        _OPTIONS: f"-c statement_timeout={milliseconds} {_EXACT} {_PLANS} {options}",
        # If a host vanishes silently, the network notices it, not the statement's timeout.
        "keepalives_idle": _CONNECT_SECONDS,
        "keepalives_interval": _CONNECT_SECONDS,
        "keepalives_count": 3,
        "tcp_user_timeout": milliseconds,
    }
    return {name: value for name, value in settings.items() if name == _OPTIONS or name not in url.query}


def _check_stamp(lost_commits: LostCommitDetector, connection: Any, _record: object) -> None:
    lost_commits.read_stamp(connection)


def _read_snapshots(connection: Any, _record: object) -> None:
    connection.set_session(isolation_level="REPEATABLE READ", readonly=True)


def _commit_each_statement(connection: Any, _record: object) -> None:
    connection.autocommit = True


def _by_unit(
    connection: Connection,
    _cursor: object,
    text: str,
    values: Any,
    context: ExecutionContext,
    many: bool,  # noqa: FBT001 - SQLAlchemy passes it so
) -> tuple[str, Any]:
    """Have the unit of a writing connection send what it has queued, and choose the form of the statement's text."""
    unit = connection.get_execution_options().get(UNIT)
    if unit is None:
        return text, values
    unit.send()
    return text if many else unit.form_of(text, context.execution_options), values


def _test_idle_connections(engine: Engine) -> None:
    @event.listens_for(engine, "checkin")  # codespell:ignore checkin
    def on_return(_connection: Any, record: Any) -> None:
        record.info["idle_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def on_loan(connection: Any, record: Any, _proxy: object) -> None:
        now = time.monotonic()
        trusted = now - record.info.get("idle_since", now) < _UNTESTED_IDLE_SECONDS
        try:
            if trusted and not has_input(connection):
                return
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            connection.rollback()
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError("the connection was lost while it was idle") from error
