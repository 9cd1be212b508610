"""With --changed-only, files that were added since are read, and no others, unless rows went."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.types import LongType
from tests.collector.lake.iceberg.iceberg_tables import (
    ROWS,
    committed,
    counts_of,
    entry_of,
    metadata_of,
)
from tests.collector.lake.test_delta import analyzed, stored, table_of
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.delivery.deliver import deliver
from hmstats.collector.lake import analysis
from hmstats.collector.lake.iceberg.increments import only_adds
from hmstats.collector.lake.iceberg.table_metadata import count_commits
from hmstats.collector.options import Options
from hmstats.collector.report import Report
from hmstats.collector.request.statement import statement
from hmstats.errors import StatementError
from hmstats.model.statistics.answers import RowCount

ALL = Options(puffin_columns="all")
ID, NAME, PRICE = 1, 2, 3
MORE = ROWS.set_column(0, "Id", pa.array(range(5000, 6000), pa.int64()))


@pytest.fixture
def name(our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog) -> str:
    """A table with one snapshot, which is analysed."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    analyzed(service, name, options=ALL)
    return name


def again(service: client.Metastore, name: str, options: Options = ALL) -> Report:
    return analyzed(service, name, options=options, changed_only=True)


def test_added_files_alone_are_read(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    catalog.load_table(name).append(MORE)
    catalog.load_table(name).append(MORE)
    report = again(service, name)
    assert (report.files, report.rows) == (2, 3000)
    assert counts_of(entry_of(service, name)) == {ID: 2000, NAME: 45, PRICE: 1000}
    merged = (stored(service, name, ["id", "name", "price"]), table_of(service, name).parameters)
    whole = analyzed(service, name, options=ALL)
    assert (whole.files, whole.rows) == (3, 3000)
    assert merged[0] == stored(service, name, ["id", "name", "price"])
    counted = ("numRows", "numFiles", "totalSize", "impala.computeStatsSnapshotIds")
    assert [merged[1][each] for each in counted] == [table_of(service, name).parameters[each] for each in counted]
    assert again(service, name).unchanged == 1


def test_the_count_is_exact_until_somebody_commits(
    service: client.Metastore, catalog: HiveCatalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.table(name).count() == RowCount(1000, exact=True)
    catalog.load_table(name).append(MORE)
    assert not service.table(name).count().exact
    again(service, name)
    assert service.table(name).count() == RowCount(2000, exact=True)
    monkeypatch.setattr(analysis, "deliver", _after(lambda: catalog.load_table(name).append(MORE)))
    analyzed(service, name, options=ALL)
    assert service.table(name).count() == RowCount(2000, exact=False)


def _after(commit: Callable[[], None]) -> Any:
    """What delivers findings after a commit has come in between."""

    def delivered(*arguments: Any) -> Any:
        commit()
        return deliver(*arguments)

    return delivered


def test_nothing_is_read_after_a_compaction(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    catalog.load_table(name).append(MORE)
    _snapshot(service, name, {"operation": "replace", "added-data-files": "1", "deleted-data-files": "2"})
    assert again(service, name).files == 1
    _snapshot(service, name, {"operation": "replace", "deleted-data-files": "1"})
    report = again(service, name)
    assert (report.files, report.rows) == (0, 2000)
    assert counts_of(entry_of(service, name)) == {ID: 2000, NAME: 45, PRICE: 1000}
    assert stored(service, name, ["id"])["id"].data.high == 5999  # type: ignore[union-attr]


def test_all_is_read_after_a_delete(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    catalog.load_table(name).append(MORE)
    catalog.load_table(name).delete("Id >= 5000")
    report = again(service, name)
    assert (report.files, report.rows) == (1, 1000)
    assert counts_of(entry_of(service, name)) == {ID: 1000, NAME: 45, PRICE: 1000}


@pytest.mark.slow
def test_all_is_read_when_what_was_stored_is_of_another_analysis(
    service: client.Metastore, catalog: HiveCatalog, name: str
) -> None:
    catalog.load_table(name).append(MORE)
    service.delete_statistics(statement(name).table, ["price"])
    assert again(service, name).files == 2
    catalog.load_table(name).append(MORE)
    assert again(service, name, Options(puffin_columns="all", precision=13)).files == 3
    catalog.load_table(name).append(MORE)
    metadata = metadata_of(service, name)
    committed(service, name, {**metadata, "statistics": []})
    assert again(service, name, Options(puffin_columns="all", precision=13)).files == 4


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("appended", [True, False])
def test_all_is_read_when_a_column_was_dropped_and_another_took_its_name(
    service: client.Metastore, catalog: HiveCatalog, name: str, at_once: bool, appended: bool
) -> None:
    texts = Options(puffin_columns="text")
    analyzed(service, name, options=texts)
    table = catalog.load_table(name)
    with table.transaction() as change:
        change.update_schema().delete_column("Id").commit()
        if at_once:
            change.update_schema().add_column("Id", LongType()).commit()
    if not at_once:
        catalog.load_table(name).update_schema().add_column("Id", LongType()).commit()
    if appended:
        catalog.load_table(name).append(MORE.select(["name", "price", "Id"]))
    assert again(service, name, texts).rows == (2000 if appended else 1000)
    assert stored(service, name, ["id"])["id"].data.nulls == 1000
    assert again(service, name, texts).unchanged == 1


def test_an_expired_snapshot_is_no_earlier_version(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    catalog.load_table(name).append(MORE)
    metadata = metadata_of(service, name)
    last = metadata["current-snapshot-id"]
    remaining_blobs = [each for each in metadata["snapshots"] if each["snapshot-id"] == last]
    committed(service, name, {**metadata, "snapshots": remaining_blobs, "statistics": []})
    assert again(service, name).files == 2
    assert [each["snapshot-id"] for each in metadata_of(service, name)["statistics"]] == [last]


def test_a_rollback_is_read_as_it_is(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    first = catalog.load_table(name).current_snapshot()
    assert first is not None
    catalog.load_table(name).append(MORE)
    assert again(service, name).rows == 2000
    metadata = metadata_of(service, name)
    refs = {"main": {"snapshot-id": first.snapshot_id, "type": "branch"}}
    committed(service, name, {**metadata, "current-snapshot-id": first.snapshot_id, "refs": refs})
    assert again(service, name).rows == 1000
    assert counts_of(entry_of(service, name))[ID] == 1000


def test_summaries() -> None:
    assert only_adds({"operation": "append", "added-records": "5", "deleted-records": "0"})
    assert only_adds({"operation": "replace", "deleted-records": "5", "added-records": "5"})
    assert not only_adds({"operation": "append", "added-delete-files": "1"})
    assert not only_adds({"operation": "overwrite"})
    assert not only_adds({"operation": "delete"})
    assert not only_adds({})


def _snapshot(service: client.Metastore, name: str, summary: Mapping[str, str]) -> None:
    """Commit a snapshot with the rows of the one before."""
    metadata: dict[str, Any] = json.loads(json.dumps(metadata_of(service, name)))
    before = next(each for each in metadata["snapshots"] if each["snapshot-id"] == metadata["current-snapshot-id"])
    number = before["sequence-number"] + 1
    after = {
        **before,
        "snapshot-id": before["snapshot-id"] + 1,
        "parent-snapshot-id": before["snapshot-id"],
        "sequence-number": number,
        "timestamp-ms": before["timestamp-ms"] + 1,
        "summary": dict(summary),
    }
    metadata["snapshots"].append(after)
    refs = {"main": {"snapshot-id": after["snapshot-id"], "type": "branch"}}
    current = {"current-snapshot-id": after["snapshot-id"], "last-sequence-number": number, "refs": refs}
    committed(service, name, {**metadata, **current})


def test_only_the_commits_of_the_caller_are_read(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    catalog.load_table(name).append(MORE)
    assert analyzed(service, name, options=ALL, changed_only=True, own_commits=1).files == 1
    catalog.load_table(name).delete("Id < 10")
    before = stored(service, name, ["id"])
    with pytest.raises(StatementError, match=f"table {name} must be read as a whole at Iceberg snapshot"):
        analyzed(service, name, options=ALL, changed_only=True, own_commits=1)
    assert stored(service, name, ["id"]) == before


def test_commits_before_those_that_have_expired_count(
    service: client.Metastore, catalog: HiveCatalog, name: str
) -> None:
    catalog.load_table(name).append(MORE)
    opened = catalog.load_table(name)
    first, second = sorted(opened.snapshots(), key=lambda each: each.timestamp_ms)
    assert count_commits(metadata_of(service, name), second.snapshot_id) == 2
    opened.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    assert count_commits(metadata_of(service, name), second.snapshot_id) == 2
