"""Puffin files of snapshots: complete, registered on a condition, and never in the way of another commit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.exceptions import CommitFailedException, WaitingForLockException
from pyiceberg.types import IntegerType
from tests.collector.lake.iceberg.iceberg_tables import (
    ROWS,
    committed,
    counts_of,
    entry_of,
    location_of,
    metadata_of,
    puffin_of,
    registered_by_another,
)
from tests.collector.lake.test_delta import analyzed, table_of
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client import iceberg_commits
from hmstats.client.iceberg_commits import IcebergCommits
from hmstats.collector.lake.iceberg import table_files
from hmstats.collector.options import Options
from hmstats.collector.request.statement import statement
from hmstats.errors import AnalysisIncomplete, ServiceError
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.snapshot import THETA
from hmstats.sketch.distinct.theta import ThetaSketch

ALL = Options(puffin_columns="all")
ID, NAME, PRICE = 1, 2, 3
_REPLACE = IcebergCommits.replace


@pytest.fixture
def name(our_metastore: Metastore, catalog: HiveCatalog) -> str:
    """A table with one snapshot."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    return name


def test_distinct_counts_are_registered_for_the_snapshot(
    service: client.Metastore, catalog: HiveCatalog, name: str
) -> None:
    before = metadata_of(service, name)
    report = analyzed(service, name, options=ALL)
    after, entry = metadata_of(service, name), entry_of(service, name)
    assert counts_of(entry) == {ID: 1000, NAME: 45, PRICE: 1000}
    assert report.puffin is not None
    assert (report.puffin.path, report.puffin.columns) == (entry["statistics-path"], ("id", "name", "price"))
    made = ThetaSketch()
    made.update(ROWS["name"])
    (blob,) = [each for each in puffin_of(entry).blobs if each.fields == (NAME,)]
    assert blob.content() == made.to_bytes()
    changed = {key for key in after if after.get(key) != before.get(key)}
    assert changed - {"last-updated-ms"} == {"statistics", "metadata-log"}
    (taken,) = catalog.load_table(name).metadata.statistics
    assert (taken.snapshot_id, len(taken.blob_metadata)) == (before["current-snapshot-id"], 3)
    found = table_of(service, name).parameters
    assert found["impala.computeStatsSnapshotIds"] == f"1-3:{before['current-snapshot-id']}"
    assert found["previous_metadata_location"] == after["metadata-log"][-1]["metadata-file"]


def test_only_texts_are_registered_unless_asked_otherwise(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=Options(puffin_columns="none"))
    assert not metadata_of(service, name).get("statistics")
    analyzed(service, name, options=ALL)
    analyzed(service, name)
    assert counts_of(entry_of(service, name)) == {NAME: 45}
    analyzed(service, name, options=Options(puffin_columns="price"))
    assert counts_of(entry_of(service, name)) == {PRICE: 1000}
    location = location_of(service, name)
    analyzed(service, name, options=Options(puffin_columns="none"))
    analyzed(service, name, options=Options(sample_fraction=0.5))
    analyzed(service, name, options=Options.bounds_only())
    assert location_of(service, name) == location


def test_columns_that_were_not_asked_for_keep_their_counts(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=ALL)
    analyzed(service, name, columns=["id"], options=ALL)
    assert counts_of(entry_of(service, name)) == {ID: 1000, NAME: 45, PRICE: 1000}


def test_blobs_of_other_engines_stay_and_do_not_keep_the_table_from_being_read(
    service: client.Metastore, name: str
) -> None:
    hive = Blob("ColumnStatisticsObj", (1,), 7, 1, b"java", properties={"partition": "null"})
    trino = Blob(THETA, (PRICE,), 7, 1, b"theirs", properties={"ndv": "999"})
    stale = Blob(THETA, (NAME,), 7, 1, b"theirs", properties={"ndv": "1"})
    registered_by_another(service, name, hive, trino, stale)
    analyzed(service, name)
    blobs = puffin_of(entry_of(service, name)).blobs
    assert blobs[1:] == (hive, trino)
    assert (blobs[0].fields, blobs[0].properties["ndv"]) == ((NAME,), "45")


def test_the_file_of_the_nearest_ancestor_is_carried_on(
    service: client.Metastore, catalog: HiveCatalog, name: str
) -> None:
    registered_by_another(service, name, Blob(THETA, (PRICE,), 7, 1, b"theirs", properties={"ndv": "999"}))
    earlier = entry_of(service, name)
    catalog.load_table(name).append(ROWS)
    catalog.load_table(name).append(ROWS)
    analyzed(service, name)
    assert counts_of(entry_of(service, name)) == {NAME: 45, PRICE: 999}
    assert entry_of(service, name, earlier["snapshot-id"]) == earlier


@pytest.mark.slow
def test_blobs_of_dropped_columns_are_removed(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    analyzed(service, name, options=ALL)
    with catalog.load_table(name).update_schema() as update:
        update.delete_column("name")
        update.add_column("name", IntegerType())
    analyzed(service, name, changed_only=True)
    assert metadata_of(service, name)["statistics"][0]["blob-metadata"] == []
    with catalog.load_table(name).update_schema() as update:
        update.delete_column("name")
    analyzed(service, name, options=ALL, changed_only=True)
    assert counts_of(entry_of(service, name)) == {ID: 1000, PRICE: 1000}


def test_an_unreadable_earlier_file_is_replaced(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=ALL)
    Path(entry_of(service, name)["statistics-path"].removeprefix("file:")).unlink()
    analyzed(service, name)
    assert counts_of(entry_of(service, name)) == {NAME: 45}


def test_a_commit_that_comes_in_between_stays(
    service: client.Metastore, catalog: HiveCatalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = catalog.load_table(name).current_snapshot()
    assert of is not None
    others = [lambda: _unlocked_append(service, name)] * 2
    _before_each_replace(monkeypatch, others)
    report = analyzed(service, name)
    assert report.rows == 1000
    table = catalog.load_table(name)
    assert (table.scan().to_arrow().num_rows, len(table.snapshots()), others) == (3000, 3, [])
    assert counts_of(entry_of(service, name, of.snapshot_id)) == {NAME: 45}
    folder = Path(str(table.location()).removeprefix("file:")) / "metadata"
    assert len([*folder.glob("*.stats")]) == 1  # those of the attempts before are removed


@pytest.mark.slow
def test_a_table_that_is_committed_to_all_the_time_is_given_up(
    service: client.Metastore, catalog: HiveCatalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _before_each_replace(monkeypatch, [lambda: _unlocked_append(service, name)] * 100)
    with pytest.raises(AnalysisIncomplete, match=r"the Puffin file: table .* was committed to 10 times meanwhile"):
        analyzed(service, name)
    monkeypatch.undo()
    assert analyzed(service, name, changed_only=True).unchanged == 0


@pytest.mark.slow
def test_racing_committers_lose_nothing(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    def append(_: int) -> None:
        while True:
            try:
                return HiveCatalog("test", **catalog.properties).load_table(name).append(ROWS)
            except (CommitFailedException, WaitingForLockException):
                continue

    def analyze(_: int) -> str | None:
        with client.connect(service.address) as own:
            found = analyzed(own, name).puffin
        return found.path if found else None

    with ThreadPoolExecutor(4) as pool:
        appended, registered = pool.map(append, range(4)), pool.map(analyze, range(4))
        paths = {*registered, *appended} - {None}
    metadata = metadata_of(service, name)
    assert catalog.load_table(name).scan().to_arrow().num_rows == 5000
    assert {each["statistics-path"] for each in metadata["statistics"]} <= paths
    known = {each["snapshot-id"] for each in metadata["snapshots"]}
    assert {each["snapshot-id"] for each in metadata["statistics"]} <= known


@pytest.mark.parametrize("broken", ["write_metadata", "replace"])
def test_a_crash_before_the_commit_leaves_an_orphan_only(
    service: client.Metastore, catalog: HiveCatalog, name: str, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    before = metadata_of(service, name)
    monkeypatch.setattr(table_files if broken == "write_metadata" else IcebergCommits, broken, crash)
    with pytest.raises(KeyboardInterrupt):
        analyzed(service, name)
    monkeypatch.undo()
    assert metadata_of(service, name) == before
    assert catalog.load_table(name).scan().to_arrow().num_rows == 1000
    report = analyzed(service, name, changed_only=True)
    assert report.puffin is not None
    assert counts_of(entry_of(service, name)) == {NAME: 45}


def test_a_commit_whose_answer_was_lost_is_not_repeated(service: client.Metastore, name: str) -> None:
    table, before = statement(name).table, location_of(service, name)
    assert service.iceberg.replace(table, before, "file:/next.metadata.json")
    assert service.iceberg.replace(table, before, "file:/next.metadata.json")
    assert not service.iceberg.replace(table, before, "file:/other.metadata.json")
    assert location_of(service, name) == "file:/next.metadata.json"


@pytest.mark.slow
def test_a_locked_table_is_waited_for(service: client.Metastore, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = statement(name).table
    with client.connect(service.address) as other:
        with other.iceberg.lock(table):
            monkeypatch.setattr(iceberg_commits, "PATIENCE_SECONDS", 0.2)
            with pytest.raises(AnalysisIncomplete, match=r"the Puffin file: table .* is locked by others"):
                analyzed(service, name)
        with service.iceberg.lock(table), pytest.raises(ServiceError), other.iceberg.lock(table):
            pass
    assert table_of(service, name).parameters["numRows"] == "1000"
    assert analyzed(service, name, changed_only=True).puffin is not None


def test_locked_columns_keep_their_counts(service: client.Metastore, name: str) -> None:
    database, table = name.split(".")
    registered_by_another(service, name, Blob(THETA, (NAME,), 7, 1, b"theirs", properties={"ndv": "7"}))
    service.locks.lock(LockedObject(DatabaseName("hive", database), table, columns=("name",)))
    analyzed(service, name, options=ALL)
    assert counts_of(entry_of(service, name)) == {ID: 1000, NAME: 7, PRICE: 1000}


def test_a_snapshot_that_expired_has_no_file(
    service: client.Metastore, catalog: HiveCatalog, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expire() -> None:
        metadata = metadata_of(service, name)
        current = metadata["current-snapshot-id"]
        remaining_blobs = [each for each in metadata["snapshots"] if each["snapshot-id"] == current]
        committed(service, name, {**metadata, "snapshots": remaining_blobs})

    lock = IcebergCommits.lock
    done: list[bool] = []

    def lock_after_expiry(commits: IcebergCommits, table: TableName) -> Any:
        if not done:
            done.append(True)
            _unlocked_append(service, name)
            expire()
        return lock(commits, table)

    monkeypatch.setattr(IcebergCommits, "lock", lock_after_expiry)
    report = analyzed(service, name)
    assert report.puffin is not None
    assert "is no longer one of table" in (report.puffin.reason or "")
    assert not metadata_of(service, name).get("statistics")


def test_entries_of_expired_snapshots_go(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    """Also those that another engine left behind when it expired the snapshot."""
    analyzed(service, name)
    left = entry_of(service, name)
    table = catalog.load_table(name)
    table.append(ROWS)
    table.maintenance.expire_snapshots().by_id(left["snapshot-id"]).commit()
    metadata = metadata_of(service, name)
    committed(service, name, {**metadata, "statistics": [left]})
    analyzed(service, name)
    assert [each["snapshot-id"] for each in metadata_of(service, name)["statistics"]] == [
        metadata["current-snapshot-id"]
    ]


@pytest.mark.slow
def test_snapshots_of_tags_and_branches_keep_their_files(
    service: client.Metastore, catalog: HiveCatalog, name: str
) -> None:
    """An expiry of all that nothing refers to, and a removal of files that no metadata names, leave them whole."""
    table = catalog.load_table(name)
    analyzed(service, name)
    tagged = entry_of(service, name)
    table.refresh()
    with table.manage_snapshots() as refs:
        refs.create_tag(tagged["snapshot-id"], "audited").create_branch(tagged["snapshot-id"], "trial")
    for _ in range(2):
        table.append(ROWS)
        analyzed(service, name)
        table.refresh()
    table.append(ROWS, branch="trial")
    expired = [each.snapshot_id for each in table.snapshots()[1:2]]
    table.maintenance.expire_snapshots().by_ids(expired).commit()
    report = analyzed(service, name, options=ALL)
    metadata = metadata_of(service, name)
    found = {each["snapshot-id"]: each for each in metadata["statistics"]}
    assert found.keys() == {tagged["snapshot-id"], metadata["current-snapshot-id"]}
    assert found[tagged["snapshot-id"]] == tagged
    assert (report.rows, metadata["refs"]["audited"]["snapshot-id"]) == (3000, tagged["snapshot-id"])
    named = {each["statistics-path"].rpartition("/")[2] for each in found.values()}
    folder = Path(metadata["location"].removeprefix("file:")) / "metadata"
    for orphan in {each.name for each in folder.glob("*.stats")} - named:
        (folder / orphan).unlink()
    assert {field for each in found.values() for blob in puffin_of(each).blobs for field in blob.fields} == {1, 2, 3}
    analyzed(service, name)


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_every_version_of_the_format(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog, version: str
) -> None:
    name = f"{our_metastore.database}.t"
    created = "1" if version == "1" else "2"
    catalog.create_table(name, schema=ROWS.schema, properties={"format-version": created}).append(ROWS)
    if version == "3":
        committed(service, name, {**metadata_of(service, name), "format-version": 3, "next-row-id": 1000})
    analyzed(service, name, options=ALL)
    found = metadata_of(service, name)
    assert (found["format-version"], counts_of(entry_of(service, name))[NAME]) == (int(version), 45)
    assert catalog.load_table(name).scan().to_arrow().num_rows == 1000


def test_metadata_of_other_names_and_places(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog, tmp_path: Path
) -> None:
    name = f"{our_metastore.database}.t"
    (tmp_path / "elsewhere").mkdir()
    given = {"write.metadata.compression-codec": "gzip", "write.metadata.path": f"file://{tmp_path}/elsewhere"}
    given["write.metadata.previous-versions-max"] = "1"
    catalog.create_table(name, schema=ROWS.schema, properties=given).append(ROWS)
    analyzed(service, name)
    found = location_of(service, name)
    assert found.startswith(f"file://{tmp_path}/elsewhere/")
    assert found.endswith(".gz.metadata.json")
    assert entry_of(service, name)["statistics-path"].startswith(f"file://{tmp_path}/elsewhere/")
    assert len(metadata_of(service, name)["metadata-log"]) == 1
    assert catalog.load_table(name).scan().to_arrow().num_rows == 1000


def test_types_that_the_metastore_has_no_statistics_of_are_counted_too(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    rows = pa.table({"at": pa.array([1, 2, 2, None], pa.time64("us")), "day": pa.array([1, 1, 1, 1], pa.date32())})
    catalog.create_table(name, schema=rows.schema).append(rows)
    report = analyzed(service, name, options=ALL)
    assert report.columns == ("day",)
    assert counts_of(entry_of(service, name)) == {1: 2, 2: 1}


def _before_each_replace(monkeypatch: pytest.MonkeyPatch, others: list[Callable[[], None]]) -> None:
    """Let one of the others happen before each commit, each once."""

    def replace_after_another(commits: IcebergCommits, table: TableName, before: str, after: str) -> bool:
        if others:
            others.pop()()
        return _REPLACE(commits, table, before, after)

    monkeypatch.setattr(IcebergCommits, "replace", replace_after_another)


def _unlocked_append(service: client.Metastore, name: str) -> None:
    """Append as an engine does that takes no lock."""
    before = location_of(service, name)
    with InMemoryCatalog("other") as other:
        other.create_namespace("lake")
        table = other.register_table("lake.t", before)
        table.append(ROWS)
    assert _REPLACE(service.iceberg, statement(name).table, before, table.metadata_location)
