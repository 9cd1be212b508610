"""Statistics arrays as IPC streams and files."""

from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather
from tests.outlets.examples import COMPLEX, COMPLEX_DATA
from tests.outlets.strategies import table_statistics

from hmstats.errors import InvalidInput
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import data_statistics, ipc, statistics_batches
from hmstats.outlets.arrow import table_statistics as read_statistics
from hmstats.outlets.arrow.build import array
from hmstats.outlets.arrow.read import statistics


@settings(max_examples=50)
@given(st.lists(table_statistics(), max_size=4))
def test_a_stream_comes_back(found: list[TableStatistics]) -> None:
    batches = ipc.read(ipc.stream(found))
    for batch in batches:
        batch.validate(full=True)
    assert [read_statistics(batch) for batch in batches] == found


def test_a_file_comes_back(tmp_path: Path) -> None:
    found = [data_statistics(COMPLEX_DATA), data_statistics(pa.table({"a": [1]}))]
    ipc.write_file(tmp_path / "statistics.arrow", found)
    for source in (tmp_path / "statistics.arrow", (tmp_path / "statistics.arrow").read_bytes()):
        read = [read_statistics(batch) for batch in ipc.read(source)]
        assert [each.statistics.columns for each in read] == [each.statistics.columns for each in found]
    assert feather.read_table(tmp_path / "statistics.arrow").num_rows == 6 + 2


def test_a_file_that_cannot_be_finished_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, found = tmp_path / "statistics.arrow", [data_statistics(COMPLEX_DATA)]
    ipc.write_file(path, found)
    before = path.read_bytes()
    schema, batches = statistics_batches(found)

    def broken() -> Iterator[pa.RecordBatch]:
        yield from [*batches, *batches]
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(ipc, "statistics_batches", lambda _: (schema, broken()))
    with pytest.raises(OSError, match="No space left"):
        ipc.write_file(path, found)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_stream_has_the_specifications_schema() -> None:
    schema = pa.ipc.open_stream(ipc.stream([data_statistics(COMPLEX_DATA)])).schema
    assert [(field.name, field.nullable) for field in schema] == [("column", True), ("statistics", False)]
    held = schema.field("statistics").type
    assert held.key_type == pa.dictionary(pa.int32(), pa.string())
    assert (held.item_type.mode, held.key_field.nullable, held.item_field.nullable) == ("dense", False, False)


def test_a_stream_of_no_target_has_a_schema() -> None:
    reader = pa.ipc.open_stream(ipc.stream([]))
    assert reader.schema.names == ["column", "statistics"]
    assert reader.read_all().num_rows == 0


def test_one_dictionary_serves_every_batch() -> None:
    content = ipc.stream([data_statistics(pa.table({"a": [number]})) for number in range(5)])
    reader = pa.ipc.open_stream(content)
    reader.read_all()
    assert (reader.stats.num_record_batches, reader.stats.num_dictionary_batches) == (5, 1)


def test_a_slice_of_an_array_travels(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_struct_array(array(COMPLEX).slice(2, 3))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    (read,) = ipc.read(sink.getvalue().to_pybytes())
    assert statistics(read) == COMPLEX[2:9]


@pytest.mark.parametrize("wrong", [b"", b"no stream at all", b"ARROW1", b"ARROW1\x00\x00 cut off"])
def test_bytes_that_are_neither(wrong: bytes) -> None:
    with pytest.raises(InvalidInput, match=f"must be an Arrow IPC stream or file, found {len(wrong)} bytes"):
        ipc.read(wrong)
