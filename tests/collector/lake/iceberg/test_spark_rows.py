"""What one task of Spark makes of a table's rows: the state of all, and a sketch of some columns."""

import pyarrow as pa
from tests.collector.lake.iceberg.iceberg_tables import ROWS

from hmstats.collector.lake.iceberg.spark_rows import _task_states
from hmstats.collector.options import DEFAULT
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct.theta import ThetaSketch

NAMES = ("Id", "name", "price")


def test_a_tasks_states_are_those_of_its_rows() -> None:
    types = {"Id": "bigint", "name": "string"}
    batches = ROWS.to_batches(max_chunksize=300)
    made = list(_task_states(batches, NAMES, types, ("name", "price"), DEFAULT))
    found = {name: state for batch in made for name, state in zip(*batch.to_pydict().values(), strict=True)}
    assert set(found) == {"", "name", "price"}
    total = TableAccumulator.from_bytes(found.pop(""))
    assert (total.rows, total.columns["name"].nulls, total.columns["Id"].high) == (1000, 100, 999)
    counts = {name: ThetaSketch.from_bytes(state).ndv for name, state in found.items()}
    assert counts == {"name": 45, "price": 1000}


def test_a_task_without_rows_has_empty_sketches() -> None:
    made = list(_task_states([], NAMES, {"Id": "bigint"}, ("name",), DEFAULT))
    assert [each for batch in made for each in batch.column(0).to_pylist()] == ["name"]
    assert pa.Table.from_batches(made).num_rows == 1
