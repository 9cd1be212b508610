"""Reads rows of an Iceberg table by Spark's own reader, for tables with deletes that PyIceberg does not read.

The session needs Iceberg's runtime, but no catalog of its own: one that asks the analysis's metastore is added.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from hmstats.collector.options import Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.dataframe import columns_by_place, task_states
from hmstats.collector.scan.states import States, Types
from hmstats.collector.scan.worker_memory import freeze_modules
from hmstats.errors import StatementError, UnreadableFile
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import TableName
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct.theta import ThetaSketch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CATALOG = "hmstats_iceberg"
_CATALOG_CLASS = "org.apache.iceberg.spark.SparkCatalog"
_NO_CLASS = ("Cannot find catalog plugin class", "cannot find the plugin class")
"""Parts of the messages of Spark 4.0 and 4.3 if Iceberg's runtime is missing."""
_SCHEMA = "name string, state binary"
_ARROW_SCHEMA = pa.schema([("name", pa.string()), ("state", pa.binary())])


@dataclass(frozen=True, slots=True)
class SparkRows:
    """Reads the live rows of a snapshot of a table by Spark."""

    name: TableName
    snapshot_id: int

    def __call__(
        self, spark: "SparkSession", metastore: str, types: Types, sketched: Sequence[str], options: Options
    ) -> tuple[TableAccumulator, dict[str, ThetaSketch]]:
        """The state of the rows, and sketches of some columns; `metastore` is the address of the table's metastore.

        Raises StatementError if the session has no runtime of Iceberg, UnreadableFile if it cannot read the table.
        """
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - only where Spark is there
        from pyspark.errors import PySparkException  # noqa: PLC0415

        from hmstats.collector.spark.spark_reasons import spark_reason  # noqa: PLC0415

        _set_up(spark, metastore)
        try:
            rows = spark.read.option("versionAsOf", str(self.snapshot_id)).table(self._spark_name)
            found = _states(rows, types, sketched, options).collect()
        except (PySparkException, Py4JJavaError) as error:
            sentence = spark_reason(error)
            if any(each in sentence for each in _NO_CLASS):
                advice = "set spark.jars.packages or spark.jars"
                raise StatementError(f"Spark has no runtime of Iceberg to read {self.name.short}: {advice}") from error
            raise UnreadableFile(f"table {self.name.short} cannot be read by Spark's Iceberg: {sentence}") from error
        states, sketches = States(types, options), {each: ThetaSketch() for each in sketched}
        for row in found:
            if row.name in sketches:
                sketches[row.name] = sketches[row.name].merge(ThetaSketch.from_bytes(bytes(row.state)))
            else:
                states.merge([(WHOLE_TABLE, bytes(row.state))])
        return states.of(WHOLE_TABLE), sketches

    @property
    def _spark_name(self) -> str:
        return quote_name(_CATALOG, self.name.database, self.name.table)


def _set_up(spark: "SparkSession", metastore: str) -> None:
    """Configure a catalog of the metastore's Iceberg tables, which the session loads at its first use."""
    prefix = f"spark.sql.catalog.{_CATALOG}"
    spark.conf.set(prefix, _CATALOG_CLASS)
    spark.conf.set(f"{prefix}.type", "hive")
    spark.conf.set(f"{prefix}.uri", metastore)


def _states(rows: "DataFrame", types: Types, sketched: Sequence[str], options: Options) -> "DataFrame":
    names = [*types, *(each for each in sketched if each not in types)]
    task = partial(_task_states, names=tuple(names), types=types, sketched=tuple(sketched), options=options)
    return rows.select(*columns_by_place(names)).mapInArrow(task, _SCHEMA)


@freeze_modules
def _task_states(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    types: Types,
    sketched: Sequence[str],
    options: Options,
) -> Iterator[pa.RecordBatch]:
    """The output of one task: the state of its rows, and each column's sketch by the column's name."""
    sketches = {each: ThetaSketch() for each in sketched}

    def add_to_sketches() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name, sketch in sketches.items():
                sketch.update(batch.column(names.index(name)))
            yield batch

    for state in task_states(add_to_sketches(), (), types, options):
        yield pa.RecordBatch.from_arrays([state.column(0), state.column(1)], schema=_ARROW_SCHEMA)
    found = [sketch.to_bytes() for sketch in sketches.values()]
    arrays = [pa.array(list(sketches), pa.string()), pa.array(found, pa.binary())]
    yield pa.RecordBatch.from_arrays(arrays, schema=_ARROW_SCHEMA)
