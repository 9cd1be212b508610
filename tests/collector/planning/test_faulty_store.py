"""An object store that is slow, throttles, and breaks off in the middle: what is listed and read is whole, or an error.

HMSTATS_TEST_SMALL_FILES is how many files are listed.
"""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store
from tests.fixtures.object_stores.store_proxy import Fault, StoreProxy, reached_by_proxy

from hmstats.collector.planning.data_files import data_files
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.splits import cut
from hmstats.errors import UnreadableFile
from hmstats.files import directories, file_systems

pytestmark = pytest.mark.slow

PLACE = f"s3a://{BUCKET}/t"
PAGE = 1000
"""The most files of one answer of S3 to a listing."""
FILES = int(os.environ.get("HMSTATS_TEST_SMALL_FILES", "1050"))
ROWS = pa.table({"number": range(20_000), "text": [f"n{each}" for each in range(20_000)]})
TYPES = {"number": "bigint", "text": "string"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as found:
        files = found.files()
        for number in range(4):
            pq.write_table(ROWS, f"{BUCKET}/t/part-{number}.parquet", filesystem=files, row_group_size=5000)
        yield found


@pytest.fixture
def proxy(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreProxy]:
    with reached_by_proxy(store, monkeypatch) as found:
        yield found


def read_all() -> int:
    """How many rows are read of the table."""
    files = data_files(PLACE)
    tasks = cut([Piece("", (), PLACE, parquet=True)], {"": files}, cores=2)
    states = [file_rows.accumulate(task, TYPES) for task in tasks]
    for state in states:
        low, high = (getattr(state.statistics(TYPES)[0].data, name) for name in ("low", "high"))
        assert (low, high) == (0, ROWS.num_rows - 1)
    return sum(each.rows for each in states)


def test_a_store_that_throttles_is_asked_again(proxy: StoreProxy) -> None:
    asked = Counter[tuple[str, str]]()

    def slow_down(method: str, path: str) -> Fault:
        asked[(method, path)] += 1
        return Fault(refused=asked[(method, path)] % 2 == 1)

    proxy.faults = slow_down
    assert read_all() == 4 * ROWS.num_rows
    assert sum(each.status == 503 for each in proxy.requests) > 4


def test_an_answer_that_ends_in_the_middle_is_never_taken_for_whole(proxy: StoreProxy) -> None:
    asked = Counter[str]()

    def cut_once(method: str, path: str) -> Fault:
        asked[path] += method == "GET" and "/part-" in path
        return Fault(cut=method == "GET" and "/part-" in path and asked[path] == 2)

    proxy.faults = cut_once
    try:
        assert read_all() == 4 * ROWS.num_rows
    except UnreadableFile as error:
        assert "part-" in str(error)  # noqa: PT017 - either is right, a wrong number is not
    assert any(count >= 2 for count in asked.values())


def test_an_answer_that_always_ends_in_the_middle_is_an_error_that_names_the_file(proxy: StoreProxy) -> None:
    proxy.faults = lambda method, path: Fault(cut=method == "GET" and path.endswith("part-2.parquet"))
    with pytest.raises(UnreadableFile, match=r"part-2\.parquet"):
        read_all()


def test_slow_answers_are_waited_for(proxy: StoreProxy) -> None:
    proxy.faults = lambda _method, _path: Fault(seconds=0.2)
    assert read_all() == 4 * ROWS.num_rows


def test_a_copy_through_a_store_that_throttles_is_whole(store: ObjectStore, proxy: StoreProxy) -> None:
    asked = Counter[tuple[str, str]]()

    def slow_down(method: str, path: str) -> Fault:
        asked[(method, path)] += 1
        return Fault(refused=method == "PUT" and asked[(method, path)] == 1)

    proxy.faults = slow_down
    files, path = file_systems.open_location(PLACE)
    directories.copy(files, directories.listing(files, path), path, f"{BUCKET}/copy")
    assert any(each.status == 503 for each in proxy.requests)
    plain = store.files()
    for number in range(4):
        one, other = (plain.open_input_file(f"{BUCKET}/{each}/part-{number}.parquet").read() for each in ("t", "copy"))
        assert one == other


def test_many_small_files_are_listed_by_pages(store: ObjectStore, proxy: StoreProxy) -> None:
    files = store.files()

    def write(number: int) -> None:
        with files.open_output_stream(f"{BUCKET}/many/day={number % 7}/f-{number:06}") as out:
            out.write(b"x" * (number % 5 + 1))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(FILES)))
    proxy.requests.clear()
    found = data_files(f"s3://{BUCKET}/many")
    assert len({each.path for each in found}) == len(found) == FILES
    assert sum(each.bytes for each in found) == sum(number % 5 + 1 for number in range(FILES))
    pages = [each for each in proxy.requests if each.method == "GET" and "list-type=2" in each.path]
    assert -(-FILES // PAGE) <= len(pages) <= FILES // PAGE + 3
