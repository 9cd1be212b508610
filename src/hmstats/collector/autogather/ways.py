"""The two ways to the statistics of a write: from its rows as they go by, or from the files that it has left."""

from collections.abc import Iterator
from typing import Any, Protocol

import structlog
from pyspark.sql import DataFrame, SparkSession

from hmstats.client import Metastore
from hmstats.collector.autogather.aggregation import WrittenPiece, collected
from hmstats.collector.autogather.new_files import new_files, read_new_files
from hmstats.collector.autogather.situation import Situation, situation
from hmstats.collector.autogather.target import Target
from hmstats.collector.autogather.tee import Gathering, Survived, notes, watched_rows
from hmstats.collector.publishers.protocols import Aggregator
from hmstats.model.catalog import TableName

_log = structlog.get_logger("hmstats.autogather")


class Way(Protocol):
    """What is done about one write. `Survived` may be raised by `begin` and `pieces`; `end` comes in any case."""

    def begin(self) -> None:
        """Before anything is written."""

    def through(self, rows: DataFrame) -> DataFrame:
        """The rows to write, which are the same."""

    def pieces(self, service: Metastore, before: Situation) -> Iterator[WrittenPiece]:
        """What was written, once it is; `before` is the table as it was."""

    def end(self) -> None:
        """Leave nothing behind."""


class WatchedRows:
    """The rows are watched in the tasks of the write, which publish what they find."""

    def __init__(self, target: Target, gathering: Gathering, aggregator: Aggregator) -> None:
        self._target = target
        self._gathering = gathering
        self._aggregator = aggregator
        self._attempts: Any = None

    def begin(self) -> None:
        """Make the place where the tasks' states are kept."""
        self._aggregator.init(self._gathering.run)

    def through(self, rows: DataFrame) -> DataFrame:
        """The rows, which leave their statistics on the way. Raises StatementError for a Spark too old."""
        self._attempts = notes(rows.sparkSession.sparkContext)
        return watched_rows(rows, self._target, self._gathering, self._attempts)

    def pieces(self, service: Metastore, before: Situation) -> Iterator[WrittenPiece]:
        """What the attempts that succeeded have published."""
        del service, before
        return collected(self._aggregator, self._attempts.value)

    def end(self) -> None:
        """Remove what the tasks have left; what cannot be removed now is when the run counts as dead."""
        try:
            self._aggregator.terminate()
        except Survived as error:
            _log.warning("states_left", reason=str(error))


class NewFiles:
    """A plain write, whose files are read behind it."""

    def __init__(self, spark: SparkSession, table: TableName) -> None:
        self._spark = spark
        self._table = table

    def begin(self) -> None:
        """Nothing."""

    def through(self, rows: DataFrame) -> DataFrame:
        """The rows as they are."""
        return rows

    def pieces(self, service: Metastore, before: Situation) -> Iterator[WrittenPiece]:
        """What is in the files that were not there before."""
        now = situation(service, self._table)
        return read_new_files(self._spark, now, new_files(before, now))

    def end(self) -> None:
        """Nothing."""
