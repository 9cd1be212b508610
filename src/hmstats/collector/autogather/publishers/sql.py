"""Stores partial states in a table of any database that SQLAlchemy reaches: the only SQL in the collector."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    func,
    insert,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from hmstats.collector.autogather.publishers.protocols import Run
from hmstats.errors import GatheringFailed, SettingsError
from hmstats.model.statistics.running_writes import PartialState, Place

_HOUR_SECONDS = 3600
_ROWS_AT_ONCE = 50


def _key(name: str) -> Column[int]:
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


_STATES = Table(
    "hmstats_running_writes",
    MetaData(),
    Column("run_id", String(128), primary_key=True),
    _key("task"),
    _key("attempt"),
    _key("number"),
    Column("piece", LargeBinary, nullable=False, comment="UTF-8: bytes have one order in every database"),
    Column("state", LargeBinary, nullable=False),
    Column("written_at", BigInteger, nullable=False, comment="epoch seconds"),
)


class _Database:
    """The database at `run.connection`, a URL of SQLAlchemy's."""

    def init(self, run: Run) -> None:
        """Parse the URL and make an engine, without connecting. Raises SettingsError for an invalid URL."""
        self._run = run.id
        try:
            self._engine = create_engine(run.connection, poolclass=NullPool)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            raise SettingsError(f"hive.stats.dbconnectionstring leads to no database: {error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            name = self._engine.url.render_as_string(hide_password=True)
            raise GatheringFailed(f"the database of partial statistics {name} failed: {_first_line(error)}") from error


class SqlPublisher(_Database):
    """Inserts rows."""

    def publish(self, states: Sequence[PartialState]) -> None:
        """Insert the states as rows. Raises GatheringFailed if the database is unavailable or refuses."""
        if not states:
            return
        rows = [
            {
                "run_id": self._run,
                "task": place.task,
                "attempt": place.attempt,
                "number": place.number,
                "piece": place.piece.encode(),
                "state": state,
                "written_at": int(time.time()),
            }
            for place, state in states
        ]
        c = _STATES.c
        same = (
            c.task == bindparam("of_task"),
            c.attempt == bindparam("of_attempt"),
            c.number == bindparam("of_number"),
        )
        places = [{"of_task": each.task, "of_attempt": each.attempt, "of_number": each.number} for each, _ in states]
        with self._transaction() as connection:
            connection.execute(delete(_STATES).where(c.run_id == self._run, *same), places)
            connection.execute(insert(_STATES), rows)

    def terminate(self) -> None:
        """Close the connections."""
        self._engine.dispose()


class SqlAggregator(_Database):
    """Reads rows one by one as they are used."""

    def init(self, run: Run) -> None:
        """Make the table if it is not there, and remove the states of runs that died. Raises GatheringFailed."""
        super().init(run)
        before_seconds = int(time.time() - run.retention_hours * _HOUR_SECONDS)
        c = _STATES.c
        silent = select(c.run_id).group_by(c.run_id).having(func.max(c.written_at) < before_seconds)
        with self._transaction() as connection:
            _STATES.metadata.create_all(connection)
            for dead in connection.execute(silent).scalars().all():
                connection.execute(delete(_STATES).where(c.run_id == dead))

    def aggregate(self) -> Iterator[PartialState]:
        """Read the states, grouped by piece. Raises GatheringFailed if the database is unavailable or refuses."""
        c = _STATES.c
        query = select(c.piece, c.task, c.attempt, c.number, c.state).where(c.run_id == self._run)
        ordered = query.order_by(c.piece, c.task, c.attempt, c.number)
        with self._transaction() as connection:
            rows = connection.execute(ordered, execution_options={"yield_per": _ROWS_AT_ONCE})
            for piece, *numbers, state in rows:
                yield PartialState(Place(bytes(piece).decode(), *numbers), bytes(state))

    def terminate(self) -> None:
        """Remove the run's states and close the connections. Raises GatheringFailed."""
        with self._transaction() as connection:
            connection.execute(delete(_STATES).where(_STATES.c.run_id == self._run))
        self._engine.dispose()


def _first_line(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]
