"""The two ways to gather statistics of a write: from its rows as they are written, or from its new files."""

from collections.abc import Iterator
from typing import Any, Protocol

import structlog
from pyspark.sql import DataFrame, SparkSession

from hmstats.collector.autogather.aggregation import WrittenPiece, collect_pieces
from hmstats.collector.autogather.new_files import new_files, read_new_files
from hmstats.collector.autogather.publishers.protocols import Aggregator
from hmstats.collector.autogather.situation import Situation
from hmstats.collector.autogather.target import Target
from hmstats.collector.autogather.watched_rows import SURVIVABLE, Gathering, notes, watched_rows

_log = structlog.get_logger("hmstats.autogather")


class Way(Protocol):
    """A way to gather statistics of one write. `begin` and `pieces` may raise SURVIVABLE; `end` is always called."""

    def begin(self) -> None:
        """Prepare, before anything is written."""

    def through(self, rows: DataFrame) -> DataFrame:
        """The DataFrame to write, with equal rows."""

    def pieces(self, before: Situation, now: Situation) -> Iterator[WrittenPiece]:
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

    def through(self, rows: DataFrame) -> DataFrame:
        """The DataFrame whose rows are watched when they are written. Raises StatementError if PySpark is too old."""
        self._attempts = notes(rows.sparkSession.sparkContext)
        return watched_rows(rows, self._target, self._gathering, self._attempts)

    def pieces(self, before: Situation, now: Situation) -> Iterator[WrittenPiece]:
        """The states that successful attempts have published."""
        del before, now
        return collect_pieces(self._aggregator, self._attempts.value)

    def end(self) -> None:
        """Remove the tasks' states; if that fails, they are removed once the run counts as dead."""
        try:
            self._aggregator.terminate()
        except SURVIVABLE as error:
            _log.warning("states_left", reason=str(error))


class NewFiles:
    """A plain write, whose new files are read afterwards."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def begin(self) -> None:
        """No effect."""

    def through(self, rows: DataFrame) -> DataFrame:
        """The rows unchanged."""
        return rows

    def pieces(self, before: Situation, now: Situation) -> Iterator[WrittenPiece]:
        """The states of the new files' rows."""
        return read_new_files(self._spark, now, new_files(before, now))

    def end(self) -> None:
        """No effect."""
