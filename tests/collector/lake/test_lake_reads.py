"""What is read of a lakehouse table's files, held against the requests that reach the store."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import registered
from tests.collector.lake.test_delta import table_of
from tests.collector.lake.test_object_store import analyzed, metastore, of_pyiceberg, service, store
from tests.fixtures.metastores import Metastore
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore
from tests.fixtures.object_stores.store_proxy import StoreProxy, reached_by_proxy

from hmstats import client
from hmstats.collector.lake.formats import open_table
from hmstats.collector.lake.opened import no_settings
from hmstats.files.counted_reads import ReadCount

__all__ = ["metastore", "service", "store"]

pytestmark = pytest.mark.slow

ROW_COUNT = 20_000


@pytest.fixture
def proxy(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreProxy]:
    with reached_by_proxy(store, monkeypatch) as found:
        yield found


def wide_rows() -> pa.Table:
    """A number that can be analysed, and a struct beside it that takes most of the bytes."""
    random = np.random.default_rng(1)
    wide = pa.array([{"text": random.bytes(40).hex()} for _ in range(ROW_COUNT)])
    return pa.table({"number": random.integers(0, 2**62, ROW_COUNT), "wide": wide})


def test_iceberg_reads_the_wanted_columns_and_every_request_is_counted(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, proxy: StoreProxy
) -> None:
    rows = wide_rows()
    catalog = HiveCatalog("test", uri=service.address, **of_pyiceberg(store))
    place = f"{BUCKET}/counted"
    name = f"{metastore.database}.counted"
    table = catalog.create_table(name, schema=rows.schema, location=f"s3://{place}")
    for _ in range(3):
        table.append(rows)
    proxy.requests.clear()
    opened = open_table(table_of(service, name), no_settings)
    assert sum(batch.num_rows for batch in opened.read(["number"])) == 3 * ROW_COUNT
    gets, heads = (proxy.of_objects(f"{place}/", method) for method in ("GET", "HEAD"))
    assert opened.reads is not None
    assert opened.reads.count == ReadCount(sum(each.bytes for each in gets), len(gets) + len(heads))
    report = analyzed(service, name, no_settings)
    assert (report.rows, report.files) == (3 * ROW_COUNT, 3)
    assert report.reads is not None
    assert report.reads.bytes >= opened.reads.count.bytes
    assert report.reads.bytes < report.bytes / 2
    assert analyzed(service, name, no_settings, changed_only=True).reads is None


def test_delta_reads_the_wanted_columns_and_every_request_of_data_is_counted(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, proxy: StoreProxy
) -> None:
    options = {**store.environment, "AWS_ALLOW_HTTP": "true"}
    place = f"{BUCKET}/counted delta"
    for _ in range(3):
        write_deltalake(f"s3://{place}", wide_rows(), mode="append", storage_options=options)
    name = registered(metastore, f"s3://{place}", "counted_delta")
    proxy.requests.clear()
    report = analyzed(service, name, no_settings)
    assert (report.rows, report.files, list(report.skipped)) == (3 * ROW_COUNT, 3, ["wide"])
    gets, heads = (
        [each for each in proxy.of_objects(f"{BUCKET}/counted", method) if ".parquet" in each.path]
        for method in ("GET", "HEAD")
    )
    assert report.reads == ReadCount(sum(each.bytes for each in gets), len(gets) + len(heads))
    assert ROW_COUNT * 3 * 7 < report.reads.bytes < report.bytes / 2
    assert analyzed(service, name, no_settings, changed_only=True).reads is None
    write_deltalake(f"s3://{place}", wide_rows(), mode="append", storage_options=options)
    added = analyzed(service, name, no_settings, changed_only=True)
    assert (added.files, added.reads and added.reads.bytes) == (1, report.reads.bytes // 3)
