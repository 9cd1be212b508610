"""ORC files, read by stripe, give what went in; what Spark may read otherwise is left to it."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import orc
from tests.collector.checks import check_all
from tests.fixtures.runs.tiers import first_of

from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.orc import LeftToSpark
from hmstats.collector.scan.files.orc_footer import read_footer
from hmstats.collector.scan.files.splits import Split, cut
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads

ROWS = 30_000
TYPES = {
    "flag": "boolean",
    "tiny": "tinyint",
    "small": "smallint",
    "number": "int",
    "big": "bigint",
    "single": "float",
    "dbl": "double",
    "price": "decimal(12,2)",
    "huge": "decimal(38,10)",
    "day": "date",
    "moment": "timestamp",
    "text": "string",
    "raw": "binary",
}
IDS = pa.array(range(ROWS), pa.int64())
TABLE = pa.table(
    {
        "flag": pa.array([None if each % 7 == 0 else each % 3 == 0 for each in range(ROWS)]),
        "tiny": pa.array([each % 256 - 128 for each in range(ROWS)], pa.int8()),
        "small": pa.array([each % 1000 - 500 for each in range(ROWS)], pa.int16()),
        "number": pa.array([None if each % 5 == 0 else each for each in range(ROWS)], pa.int32()),
        "big": pc.multiply(IDS, 30_000_000_000_000 // ROWS),
        "single": pa.array([each / 4 for each in range(ROWS)], pa.float32()),
        "dbl": pa.array([each * 1.5e100 for each in range(ROWS)]),
        "price": pa.array([Decimal(each) / 100 for each in range(ROWS)], pa.decimal128(12, 2)),
        "huge": pa.array([Decimal(each) * 10**20 for each in range(ROWS)], pa.decimal128(38, 10)),
        "day": pa.array(pc.cast(pc.cast(pc.subtract(IDS, 100), pa.int32()), pa.date32())),
        "moment": pa.array(pc.add(pc.multiply(IDS, 1_234_567_000), 946_684_800_000_000), pa.timestamp("us")),
        "text": pa.array([None if each % 3 == 0 else f"ü{each % 500}" for each in range(ROWS)]),
        "raw": pa.array([b"x" * (each % 9) for each in range(ROWS)]),
        "list": pa.array([[each] for each in range(ROWS)]),
    }
)


def written(path: Path, table: pa.Table = TABLE, **options: Any) -> Split:
    orc.write_table(table, str(path), **options)
    return Split("p", str(path.parent), str(path), None, path.stat().st_size, orc=True)


@pytest.mark.parametrize("compression", first_of(["zlib", "uncompressed", "snappy", "lz4", "zstd"]))
def test_every_type_and_compression(tmp_path: Path, compression: str) -> None:
    split = written(tmp_path / "a.orc", compression=compression, stripe_size=256 * 1024)
    state = file_rows.accumulate([split], TYPES)
    assert state.rows == ROWS
    check_all(state.statistics(TYPES), TABLE.select(list(TYPES)), TYPES)


def test_the_footer_tells_stripes_types_and_bounds(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc", stripe_size=256 * 1024, batch_size=1000)
    file = orc.ORCFile(split.path)
    footer = read_footer(file.reader.serialized_file_tail())
    assert len(footer.stripes) == file.nstripes > 1
    assert sum(each.rows for each in footer.stripes) == ROWS
    assert sum(each.bytes for each in footer.stripes) == file.content_length
    columns = dict(footer.columns)
    assert {name: each.type for name, each in columns.items()} == {**TYPES, "list": None}
    assert (columns["day"].low, columns["day"].high) == (-100, ROWS - 101)
    assert (columns["moment"].low, columns["number"].values) == (946_684_800_000, ROWS * 4 // 5)
    assert not footer.is_encrypted


def test_stripes_are_split_sampled_and_counted(tmp_path: Path) -> None:
    path = Path(written(tmp_path / "a.orc", stripe_size=256 * 1024, batch_size=1000).path)
    piece, files = Piece("p", (), str(tmp_path), parquet=False, orc=True), [DataFile(str(path), path.stat().st_size)]
    for options in (Options(), Options(sample_fraction=0.3)):
        tasks = cut([piece], {"p": files}, cores=8, options=options)
        reads = Reads()
        states = [file_rows.accumulate(task, TYPES, options, reads) for task in tasks]
        assert sum(each.rows for each in states) == ROWS
        assert all(split.orc or not split.path for task in tasks for split in task)
        assert (reads.count.bytes > 0.9 * path.stat().st_size) is not options.sampled


def test_only_the_wanted_columns_are_read(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc", stripe_size=256 * 1024, compression="uncompressed")
    counts = []
    for types in ({"tiny": "tinyint"}, TYPES):
        reads = Reads()
        file_rows.accumulate([split], types, reads=reads)
        counts.append(reads.count.bytes)
    assert counts[0] < counts[1] / 4


def test_files_that_are_older_than_their_table(tmp_path: Path) -> None:
    """A column that was added or widened since, and another case of a name."""
    split = written(tmp_path / "a.orc", pa.table({"Small": pa.array([1, 2, None], pa.int16())}))
    state = file_rows.accumulate([split], {"small": "bigint", "added": "string"})
    found = {each.column: each.data for each in state.statistics({"small": "bigint", "added": "string"})}
    assert (found["small"].high, found["small"].nulls, found["added"].nulls) == (2, 1, 3)  # type: ignore[union-attr]
    assert file_rows.accumulate([split], {}).rows == 3
    assert file_rows.accumulate([split], {"added": "int"}).rows == 3


def test_what_a_char_holds_is_padded(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc", pa.table({"c": ["a", "bcd"]}))
    data: Any = file_rows.accumulate([split], {"c": "char(3)"}).statistics({"c": "char(3)"})[0].data
    assert (data.average_length, data.max_length) == (3, 3)


LEFT = {
    "another type": (pa.array([1.5]), "bigint"),
    "another scale": (pa.array([Decimal("1.5")], pa.decimal128(9, 1)), "decimal(12,2)"),
    "a day of another calendar": (pa.array([date(1500, 1, 1), date(2000, 1, 1)]), "date"),
    "a time before 1970": (pa.array([-1], pa.timestamp("us")), "timestamp"),
    "text as a number": (pa.array(["1"]), "int"),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_spark_may_read_otherwise_is_left_to_it(tmp_path: Path, case: str) -> None:
    values, type_ = LEFT[case]
    split = written(tmp_path / "a.orc", pa.table({"c": values, "other": values}))
    with pytest.raises(LeftToSpark, match=r"column c (is of type|has values that readers)"):
        file_rows.accumulate([split], {"c": type_})


def test_columns_without_names_are_left_to_spark(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc", pa.table({"_col0": [1], "_col1": ["a"]}))
    with pytest.raises(LeftToSpark, match="its columns have no names"):
        file_rows.accumulate([split], {"id": "bigint", "name": "string"})


def test_a_name_that_differs_in_case_alone_is_left_to_spark(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc", pa.table({"a": [1], "A": [2]}))
    with pytest.raises(LeftToSpark, match="is ambiguous"):
        file_rows.accumulate([split], {"a": "bigint"})


@pytest.mark.parametrize("tail", [b"", b"\xff" * 20, b"\x0a\x80"])
def test_a_footer_that_is_none_is_an_error(tail: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_footer(tail)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    split = written(tmp_path / "a.orc")
    Path(split.path).write_bytes(Path(split.path).read_bytes()[:-100])
    with pytest.raises(UnreadableFile, match=r"file .*a\.orc cannot be read"):
        file_rows.accumulate([split], TYPES)
