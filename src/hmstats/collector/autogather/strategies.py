"""The two ways to gather statistics of a write: from its rows while they are written, or from its new files."""

from collections.abc import Iterator
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from hmstats.client import Metastore
from hmstats.collector.autogather.aggregation import WrittenPiece, collect_pieces
from hmstats.collector.autogather.new_files import new_files, read_new_files
from hmstats.collector.autogather.publishers.protocols import Aggregator
from hmstats.collector.autogather.table_state import (
    TableState,
    read_table_state,
    read_unlisted_state,
    with_earlier_files,
    with_files,
)
from hmstats.collector.autogather.target import Target
from hmstats.collector.autogather.touched import Touched
from hmstats.collector.autogather.watched_rows import SURVIVABLE, Gathering, attempts_accumulator, watched_rows
from hmstats.collector.planning.preferred import PreferredRequest
from hmstats.collector.planning.prepare import Hadoop
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")


class GatheringStrategy(Protocol):
    """Gathers statistics of one write; the methods are called in this order.

    All but `through` and `end` may raise SURVIVABLE; `end` is always called.
    """

    def begin(self) -> None:
        """Prepare, before anything is written."""

    def before(self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop) -> TableState:
        """The table before the write, if some of its rows will remain."""

    def through(self, rows: DataFrame) -> DataFrame:
        """The DataFrame to write, with the same rows."""

    def after(
        self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop, before: TableState
    ) -> tuple[TableState, TableState]:
        """The table before the write, with the files that are only now known, and the table after the write."""

    def pieces(self, before: TableState, now: TableState) -> Iterator[WrittenPiece]:
        """The states of the written pieces, after the write; `before` and `now` are the table's snapshots."""

    def end(self) -> None:
        """Clean up."""


class WatchedRows:
    """Watches the rows in the write's tasks, which publish their states."""

    def __init__(self, target: Target, gathering: Gathering, aggregator: Aggregator) -> None:
        self._target = target
        self._gathering = gathering
        self._aggregator = aggregator
        self._attempts: Any = None

    def begin(self) -> None:
        """Prepare the storage of the tasks' states."""
        self._aggregator.init(self._gathering.run)

    def before(self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop) -> TableState:
        """The table with the files of all partitions."""
        return read_table_state(service, wanted, hadoop)

    def through(self, rows: DataFrame) -> DataFrame:
        """The DataFrame whose rows are watched when they are written. Raises StatementError if PySpark is too old."""
        self._attempts = attempts_accumulator(rows.sparkSession.sparkContext)
        return watched_rows(rows, self._target, self._gathering, self._attempts)

    def after(
        self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop, before: TableState
    ) -> tuple[TableState, TableState]:
        """The table with all partitions, since another job may have written to one that this write has not touched."""
        return before, read_table_state(service, wanted, hadoop)

    def pieces(self, before: TableState, now: TableState) -> Iterator[WrittenPiece]:
        """The states that successful attempts have published."""
        del before, now
        return collect_pieces(self._aggregator, self._attempts.value)

    def end(self) -> None:
        """Remove the tasks' states; if that fails, they are removed when the run counts as dead."""
        try:
            self._aggregator.terminate()
        except SURVIVABLE as error:
            _log.warning("states_left", reason=str(error))


class NewFiles:
    """Reads the new files after a plain write. Only the partitions that the write touched are listed, once."""

    def __init__(self, spark: SparkSession, target: Target, *, keeps: bool, appends: bool) -> None:
        self._spark = spark
        self._appends = appends
        self._touched = Touched(target) if keeps and target.keys else None

    def begin(self) -> None:
        """No effect."""

    def before(self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop) -> TableState:
        """The table as the metastore knows it."""
        return read_unlisted_state(service, wanted, hadoop)

    def through(self, rows: DataFrame) -> DataFrame:
        """The rows unchanged."""
        return rows if self._touched is None else self._touched.observe(rows)

    def after(
        self, service: Metastore, wanted: PreferredRequest, hadoop: Hadoop, before: TableState
    ) -> tuple[TableState, TableState]:
        """The files of the partitions that were touched; their names tell which files existed before an append."""
        now = read_unlisted_state(service, wanted, hadoop)
        if now.plan is None:
            return before, now
        names = {each.name for each in now.pieces} if self._touched is None else self._touched.names(now.plan)
        now = with_files(now, names)
        return (with_earlier_files(before, now) if self._appends else before), now

    def pieces(self, before: TableState, now: TableState) -> Iterator[WrittenPiece]:
        """The states of the new files' rows."""
        return read_new_files(self._spark, now, new_files(before, now))

    def end(self) -> None:
        """No effect."""
