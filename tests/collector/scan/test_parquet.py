"""Parquet files reach the accumulators as they are, whoever wrote them."""

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collector.checks import check_all, comparable
from tests.collector.data import ROWS, TYPES, rows

from hmstats.collector.options import Options, Sketches
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files import parquet
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.states import States
from hmstats.errors import UnreadableFile
from hmstats.model.statistics.column_statistics import ColumnStatistics, StringStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import TableAccumulator

TABLE = rows()


@pytest.mark.parametrize(
    "writer",
    [
        {},
        {"use_dictionary": False},
        {"row_group_size": 700},
        {"version": "1.0", "compression": "NONE"},
        {"use_deprecated_int96_timestamps": True},
        {"data_page_version": "2.0", "use_byte_stream_split": ["double"], "use_dictionary": ["word"]},
    ],
)
def test_every_type_however_it_is_written(tmp_path: Path, writer: dict[str, Any]) -> None:
    split = written(tmp_path / "a.parquet", TABLE, **writer)
    assert [rows for rows, _ in analysed([[split]])] == [ROWS]
    check_all(analysed([[split]])[0][1], TABLE)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 7), min_size=8, max_size=8))
@pytest.mark.slow
def test_the_tasks_do_not_matter(tmp_path_factory: pytest.TempPathFactory, task_of_group: list[int]) -> None:
    path = tmp_path_factory.mktemp("split") / "a.parquet"
    written(path, TABLE, row_group_size=ROWS // 8)
    tasks: list[list[Split]] = [[] for _ in range(8)]
    for group, task in enumerate(task_of_group):
        tasks[task].append(Split("p", str(path.parent), str(path), (group,), 1))
    found = analysed(tasks)[0][1]
    for one, other in zip(found, analysed([[whole(path)]])[0][1], strict=True):
        assert comparable(one) == comparable(other)


def test_a_piece_is_kept_apart_from_another(tmp_path: Path) -> None:
    first = written(tmp_path / "a.parquet", TABLE.slice(0, 100), piece="p=1")
    second = written(tmp_path / "b.parquet", TABLE.slice(100, 300), piece="p=2")
    third = written(tmp_path / "c.parquet", TABLE.slice(400, 5), piece="p=1")
    states = States(TYPES)
    for split in (first, second, third):
        states.merge([(split.piece, file_rows.accumulate([split], TYPES).to_bytes())])
    assert {name: states.of(name).rows for name in ("p=1", "p=2")} == {"p=1": 105, "p=2": 300}
    assert states.total().rows == 405
    check_all(states.total().statistics(TYPES), TABLE.slice(0, 405))


@pytest.mark.parametrize("names", [("c", "c"), ("C", "c")])
def test_a_file_with_a_column_twice_is_not_guessed_at(tmp_path: Path, names: tuple[str, str]) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=[*names, "other"])
    split = written(tmp_path / "a.parquet", table)
    with pytest.raises(UnreadableFile, match=r"a.parquet has more than one column c"):
        file_rows.accumulate([split], {"c": "bigint"})
    assert file_rows.accumulate([split], {"other": "bigint"}).rows == 1


@pytest.mark.parametrize("dictionary", [True, False])
def test_bytes_that_the_file_does_not_call_text_are_taken_as_they_are(tmp_path: Path, dictionary: bool) -> None:
    """Impala writes strings so, and they need not be UTF-8."""
    table = pa.table({"s": pa.array([b"a", b"\xff\xfe", None, b"a"], pa.binary())})
    split = written(tmp_path / "a.parquet", table, use_dictionary=dictionary)
    (found,) = file_rows.accumulate([split], {"s": "string"}).statistics({"s": "string"})
    assert isinstance(found.data, StringStatistics)
    assert (found.data.nulls, found.data.ndv, found.data.max_length) == (1, 2, 2)


def test_a_column_that_a_file_lacks_is_null_and_one_that_is_wider_fits(tmp_path: Path) -> None:
    older = pa.table({"Number": pa.array([1, 2, None], pa.int16()), "other": [1, 2, 3]})
    split = written(tmp_path / "old.parquet", older)
    found = list(file_rows.batches(split, {"number": "bigint", "added": "string"}))
    assert pa.Table.from_batches(found).to_pydict() == {"number": [1, 2, None], "added": [None, None, None]}
    assert found[0].schema.types == [pa.int64(), pa.string()]


@pytest.mark.parametrize(
    ("given", "column_type"),
    [
        (pa.array(["1", "2"]), "int"),
        (pa.array(["1", "2"]).dictionary_encode(), "double"),
        (pa.array(["2020-01-01"]), "date"),
        (pa.array(["true"]), "boolean"),
        (pa.array([1.0, 2.0]), "bigint"),
        (pa.array([2.5, 0.1]), "decimal(10,0)"),
        (pa.array([0.1]), "float"),
        (pa.array([0.1]), "string"),
        (pa.array([1, 0]), "boolean"),
        (pa.array([True]), "int"),
        (pa.array([True]), "string"),
        (pa.array([1, 2]), "timestamp"),
        (pa.array([Decimal("1.00")]), "int"),
        (pa.array([date(2020, 1, 1)]), "timestamp"),
        (pa.array([datetime(2020, 1, 1, tzinfo=UTC)]), "date"),
        (pa.array([datetime(2020, 1, 1, tzinfo=UTC)]), "string"),
        (pa.array([[1]]), "int"),
    ],
    ids=lambda each: str(getattr(each, "type", each)),
)
def test_values_of_a_type_that_engines_refuse_or_convert_each_in_its_way_are_not_converted(
    tmp_path: Path, given: pa.Array, column_type: str
) -> None:
    split = written(tmp_path / "a.parquet", pa.table({"C": given, "other": given}))
    with pytest.raises(UnreadableFile, match=r"a.parquet cannot be read: column c is of type .+ there, not .*"):
        file_rows.accumulate([split], {"c": column_type})
    assert file_rows.accumulate([split], {}).rows == len(given)


@pytest.mark.parametrize(
    ("given", "column_type", "expected"),
    [
        (pa.array([1, None], pa.int64()), "tinyint", [1, None]),
        (pa.array([1, 2], pa.uint32()), "decimal(12,2)", [Decimal("1.00"), Decimal("2.00")]),
        (pa.array([1, 2]), "string", ["1", "2"]),
        (pa.array([1, 2], pa.int32()), "double", [1.0, 2.0]),
        (pa.array([0.5], pa.float32()), "double", [0.5]),
        (pa.array([Decimal("1.5")]), "decimal(9,3)", [Decimal("1.500")]),
        (pa.array([date(2020, 1, 1)]), "timestamp_ntz", [datetime(2020, 1, 1)]),  # noqa: DTZ001 - it has no zone
        (pa.array([b"ab"], pa.binary(2)), "string", ["ab"]),
        (pa.array(["ü", None], pa.string_view()), "string", ["ü", None]),
        (pa.array([b"ab"], pa.binary_view()), "binary", [b"ab"]),
        (pa.array(["x"], pa.large_string()).dictionary_encode(), "varchar(9)", ["x"]),
        (pa.array([bytes(16)], pa.uuid()), "binary", [bytes(16)]),
        (pa.array(['{"a": 1}'], pa.json_()), "string", ['{"a": 1}']),
        (pa.array([None], pa.null()), "date", [None]),
    ],
    ids=lambda each: str(getattr(each, "type", each)),
)
def test_values_that_are_the_same_for_all_engines_are_converted(
    tmp_path: Path, given: pa.Array, column_type: str, expected: list[object]
) -> None:
    split = written(tmp_path / "a.parquet", pa.table({"c": given}))
    (batch,) = file_rows.batches(split, {"c": column_type})
    assert batch.column("c").to_pylist() == expected


def test_no_column_still_counts_rows(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    assert file_rows.accumulate([split], {}).rows == ROWS


@pytest.mark.parametrize("types", [{}, {"text": "string"}])
def test_rows_that_a_file_has_and_did_not_give_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, types: dict[str, str]
) -> None:
    split = written(tmp_path / "a.parquet", TABLE, row_group_size=1000)
    real = pq.ParquetFile.iter_batches

    def losing(*given: Any, **named: Any) -> Any:
        for batch in real(*given, **named):
            yield batch.slice(1)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", losing)
    with pytest.raises(UnreadableFile, match=rf"a.parquet has {ROWS:,} rows by its footer, but [\d,]+ were read"):
        file_rows.accumulate([split], types)


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE.slice(0, 0))
    assert [rows for rows, _ in analysed([[split]])] == [0]


def test_texts_held_by_their_dictionaries_are_read_as_such(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    footer = pq.read_metadata(split.path)
    assert parquet.dictionary_columns(footer, ["text", "word"]) == ["word"]
    batch = next(file_rows.batches(split, {"text": "string", "word": "string"}))
    assert [pa.types.is_dictionary(column.type) for column in batch.columns] == [False, True]


def written(path: Path, table: pa.Table, *, piece: str = "p", **writer: Any) -> Split:
    pq.write_table(table, path, **writer)
    return Split(piece, str(path.parent), str(path), None, path.stat().st_size)


def whole(path: Path) -> Split:
    return Split("p", str(path.parent), str(path), None, 1)


def analysed(tasks: list[list[Split]]) -> list[tuple[int, tuple[ColumnStatistics, ...]]]:
    """Rows and statistics of the one piece."""
    total = reduce(TableAccumulator.merge, (file_rows.accumulate(task, TYPES) for task in tasks))
    return [(total.rows, total.statistics(TYPES))]


def test_options_say_which_sketches_are_made(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    bounds = file_rows.accumulate([split], TYPES, Options.bounds_only()).statistics(TYPES)
    for column in bounds:
        made = [getattr(column.data, name, None) for name in ("ndv", "bit_vector", "histogram")]
        assert (made, column.top_k) == ([None, None, None], None)
    every = {each.column: each.data for each in analysed([[split]])[0][1]}
    for column in bounds:
        for name in ("nulls", "low", "high", "max_length", "average_length", "trues", "falses"):
            assert getattr(column.data, name, None) == getattr(every[column.column], name, None)
    fine = file_rows.accumulate([split], {"big": "bigint"}, Options(precision=14)).columns["big"].hll
    assert fine is not None
    assert fine.p == 14


def test_columns_may_have_sketches_of_their_own(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    first, second, *_ = (each for each in TYPES if TYPES[each] == "bigint" or TYPES[each] == "double")
    options = Options(by_column={first: Sketches(distinct=False, histogram=False, top_k=False)})
    found = {each.column: each for each in file_rows.accumulate([split], TYPES, options).statistics(TYPES)}
    assert getattr(found[first].data, "ndv", None) is None
    assert found[first].top_k is None
    assert getattr(found[second].data, "ndv", None) is not None
    merged = States(TYPES, options)
    merged.of("p").update(TABLE)
    assert next(each for each in merged.total().statistics(TYPES) if each.column == first).top_k is None


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("no parquet")
    with pytest.raises(UnreadableFile, match=f"file {path} cannot be read"):
        file_rows.accumulate([whole(path)], TYPES)


def test_rows_that_no_split_reads_are_counted_and_extrapolated(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE.slice(0, 1000))
    state = file_rows.accumulate([split, Split("p", split.location, "", (), 0, 3000)], TYPES)
    assert state.rows == 4000
    for column, full in zip(state.statistics(TYPES), analysed([[split]])[0][1], strict=True):
        assert column.data.nulls == (full.data.nulls or 0) * 4
        assert column.provenance == Provenance(exact=False, rows_seen=1000, sample_fraction=0.25)
        assert getattr(column.data, "ndv", None) == getattr(full.data, "ndv", None)


def test_batches_of_wide_rows_are_short(tmp_path: Path) -> None:
    wide = written(tmp_path / "wide.parquet", pa.table({"a": [f"{number:05000d}" for number in range(3000)]}))
    footer = pq.read_metadata(wide.path)
    assert 10_000 < parquet.batch_rows(footer, ["a"]) < 16_000
    assert parquet.batch_rows(footer, []) == 256 * 1024


def test_a_char_has_its_width_whoever_wrote_it(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", pa.table({"c": ["a", "a  ", "ü", None, ""] * 9}))
    data = file_rows.accumulate([split], {"c": "char(3)"}).statistics({"c": "char(3)"})[0].data
    assert isinstance(data, StringStatistics)
    assert (data.ndv, data.max_length, data.nulls) == (3, 4, 9)
