"""What is read of files in an object store, held against the requests that reach it."""

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from tests.fixtures.object_stores.object_store import BUCKET, MOTO, ObjectStore, object_store
from tests.fixtures.object_stores.store_proxy import Fault, StoreProxy, reached_by_proxy

from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.data_files import DataFile, data_files
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.orc import BLOCK_BYTES
from hmstats.collector.scan.files.splits import Split, cut
from hmstats.files.counted_reads import ReadCount, Reads

pytestmark = pytest.mark.slow

FILES, ROWS, GROUP_ROWS = 40, 20_000, 5_000
PLACE = f"s3://{BUCKET}/t"
FOOTER_BYTES = 64 * 1024
"""How many bytes of a file's end Arrow reads at once for its footer."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """A store with files of four row groups: two wide columns, and a narrow one between them."""
    random = np.random.default_rng(1)
    rows = pa.table(
        {
            "before": random.integers(0, 2**62, ROWS),
            "number": random.integers(0, 2**62, ROWS),
            "text": [random.bytes(20).hex() for _ in range(ROWS)],
        }
    )
    with object_store(tmp_path_factory.mktemp("store"), MOTO) as found:
        for number in range(FILES):
            pq.write_table(
                rows, f"{BUCKET}/t/part-{number}.parquet", filesystem=found.files(), row_group_size=GROUP_ROWS
            )
        yield found


@pytest.fixture
def proxy(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreProxy]:
    with reached_by_proxy(store, monkeypatch) as found:
        yield found


def read(files: list[DataFile], columns: dict[str, str], options: Options = DEFAULT) -> tuple[int, ReadCount]:
    """How many rows were looked at, and what was read for it."""
    reads = Reads()
    tasks = cut([Piece("", (), PLACE, parquet=True)], {"": files}, 2, options, reads=reads)
    states = [file_rows.accumulate(task, columns, options, reads) for task in tasks]
    return sum(each.rows for each in states), reads.count


def wanted_bytes(store: ObjectStore, path: str, column: str) -> int:
    footer = pq.read_metadata(path, filesystem=store.files())
    place = footer.schema.to_arrow_schema().get_field_index(column)
    return sum(footer.row_group(each).column(place).total_compressed_size for each in range(footer.num_row_groups))


def test_only_the_wanted_columns_are_read_and_every_request_is_counted(store: ObjectStore, proxy: StoreProxy) -> None:
    files = data_files(PLACE)
    proxy.requests.clear()
    rows, count = read(files, {"number": "bigint"})
    assert rows == FILES * ROWS
    gets, heads = (proxy.of_objects(f"{BUCKET}/t/", method) for method in ("GET", "HEAD"))
    assert sum(each.bytes for each in gets) == count.bytes
    assert len(gets) + len(heads) == count.requests
    footers = len(gets) - FILES * (ROWS // GROUP_ROWS)
    assert FILES <= footers <= 2 * FILES  # of a file that is cut into tasks, the driver reads it too
    assert count.bytes == sum(wanted_bytes(store, each.path, "number") for each in files) + footers * FOOTER_BYTES


def test_a_sample_reads_the_chunks_of_its_row_groups_alone(store: ObjectStore, proxy: StoreProxy) -> None:
    files = data_files(PLACE)
    _, whole = read(files, {"number": "bigint"})
    proxy.requests.clear()
    _, count = read(files, {"number": "bigint"}, Options(sample_fraction=0.1))
    gets = proxy.of_objects(f"{BUCKET}/t/")
    assert sum(each.bytes for each in gets) == count.bytes
    chunks = [each for each in gets if each.bytes != FOOTER_BYTES]
    assert len(chunks) == FILES * (ROWS // GROUP_ROWS) // 10
    assert sum(each.bytes for each in chunks) < (whole.bytes - FILES * FOOTER_BYTES) / 9


def test_footers_are_read_in_parallel(proxy: StoreProxy) -> None:
    """The tasks of a sample are cut by the footers of all files: no footer waits for another's answer."""
    files = data_files(PLACE)[:8]
    together = Barrier(len(files), timeout=60)

    def waits(method: str, path: str) -> Fault:
        if method == "GET" and "/part-" in path:
            together.wait()  # raises unless all are asked for at once
        return Fault()

    proxy.faults = waits
    assert sum(len(task) for task in cut_sample(files)) == len(files)


def cut_sample(files: list[DataFile]) -> list[list[Split]]:
    return cut([Piece("", (), PLACE, parquet=True)], {"": files}, 2, Options(sample_fraction=0.999))


def test_the_streams_of_orc_are_few_requests(store: ObjectStore, proxy: StoreProxy, tmp_path: Path) -> None:
    rows = pa.table({f"c{number}": np.random.default_rng(number).integers(0, 2**62, 50_000) for number in range(8)})
    orc.write_table(rows, str(tmp_path / "a.orc"), stripe_size=512 * 1024)
    with store.files().open_output_stream(f"{BUCKET}/o/a.orc") as out:
        out.write((tmp_path / "a.orc").read_bytes())
    size = (tmp_path / "a.orc").stat().st_size
    reads = Reads()
    split = Split("", f"s3://{BUCKET}/o", f"{BUCKET}/o/a.orc", None, size, orc=True)
    proxy.requests.clear()
    assert file_rows.accumulate([split], dict.fromkeys(rows.column_names, "bigint"), reads=reads).rows == 50_000
    gets = proxy.of_objects(f"{BUCKET}/o/")
    assert (sum(each.bytes for each in gets), len(gets) + 1) == (reads.count.bytes, reads.count.requests)
    assert len(gets) <= -(-size // BLOCK_BYTES) + orc.ORCFile(str(tmp_path / "a.orc")).nstripes
