"""Which files are of Spark's old calendar, and which values that moves."""

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats.collector.scan.files.calendars import old_columns, rebased

VERSION, DATES, INT96 = "org.apache.spark.version", "org.apache.spark.legacyDateTime", "org.apache.spark.legacyINT96"


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ({}, set()),
        ({VERSION: "4.1.0"}, set()),
        ({DATES: ""}, set()),  # not Spark's
        ({VERSION: "4.1.0", DATES: ""}, {"d"}),
        ({VERSION: "3.5.1", INT96: ""}, {"t"}),
        ({VERSION: "3.0.1"}, {"t"}),
        ({VERSION: "2.4.8"}, {"d", "t"}),
        ({VERSION: "unknown"}, set()),
    ],
)
def test_the_file_says_what_is_old(tmp_path: Path, said: dict[str, str], old: set[str]) -> None:
    columns = {"d": pa.array([date(2020, 1, 1)]), "t": pa.array([datetime(2020, 1, 1, tzinfo=UTC)]), "i": pa.array([1])}
    table = pa.table(columns).replace_schema_metadata(said)
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    assert old_columns(pq.read_metadata(tmp_path / "a.parquet")) & {"d", "t"} == old


def test_only_what_is_before_1582_moves() -> None:
    days = pa.array([-719_164, -354_128, -171_655, None, -141_427, 0, 19_000], pa.int32())
    moved = [-719_162, -354_134, -171_664, None, -141_427, 0, 19_000]
    assert rebased(days.cast(pa.date32())).cast(pa.int32()).to_pylist() == moved
    micros = pa.array([None if each is None else each * 86_400_000_000 + 5 for each in days.to_pylist()], pa.int64())
    expected = [None if each is None else each * 86_400_000_000 + 5 for each in moved]
    assert rebased(micros.cast(pa.timestamp("us"))).cast(pa.int64()).to_pylist() == expected


@pytest.mark.parametrize(
    "array", [pa.array([1, 2]), pa.array(["a"]), pa.nulls(3, pa.date32()), pa.array([], pa.date32())]
)
def test_everything_else_stays(array: pa.Array) -> None:
    assert rebased(array) is array
