"""Changes of files that meet each other, and what another server does with those that were left."""

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from sqlalchemy import update
from structlog.testing import capture_logs
from tests.faults.harness.lake import Lake
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import AlreadyExists, FilesBusy, InvalidOperation, MetaError, NoSuchObject, StoreUnavailable
from hmstats.files import directories
from hmstats.model.catalog.file_changes import FileChange, Kind, Removal
from hmstats.model.catalog.objects import Column, DatabaseName, Partition, Storage, Table, TableName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse
from hmstats.store.catalog import tables
from hmstats.store.connections.presence import new_id
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_FILE_CHANGE
from hmstats.store.storage import file_changes

T, U = (TableName("hive", "d", each) for each in ("t", "u"))
GONE = 5
"""The number of a process that is not there."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(f"file:{tmp_path}/warehouse", [EVERYWHERE])


@pytest.fixture
def lake(store: Store, warehouse: Warehouse) -> Lake:
    """A database `d`, with a table `t` of two partitions."""
    found = Lake(store, warehouse)
    found.make("d")
    return found


@pytest.fixture
def other(database_url: str, warehouse: Warehouse) -> Iterator[Lake]:
    """Another server over the same."""
    opened = Store.open(database_url)
    yield Lake(opened, warehouse)
    opened.close()


def _rename(lake: Lake, old: TableName = T, new: TableName = U) -> None:
    table = Tables(lake.store, lake.warehouse).get(old)
    TableAlterations(lake.store, lake.warehouse).alter(old, replace(table, name=new))


def _drop(lake: Lake, name: TableName = T) -> None:
    Tables(lake.store, lake.warehouse).drop(name, delete_data=True)


def _recover(lake: Lake) -> None:
    FileChanges(lake.store, lake.warehouse).recover()


def _at(lake: Lake, name: str) -> str:
    return f"{lake.warehouse.root}/d.db/{name}"


def _path(lake: Lake, name: str) -> Path:
    return Path(_at(lake, name).removeprefix("file:"))


def _leave(lake: Lake, kind: Kind, *places: str, owner: int = GONE, **details: Any) -> None:
    """Write the row of a change that a server has left."""
    change = FileChange(new_id(), owner, kind, "table hive.d.t", tuple(_at(lake, each) for each in places))
    if kind is Kind.REMOVE:
        change = replace(change, details=Removal(change.places, **details))
    lake.store.write(lambda unit: file_changes.begin(unit, change))


class _Halted:
    """A step of a change that waits until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        original = getattr(directories, step)

        def halted(*arguments: Any, **named: Any) -> Any:
            monkeypatch.setattr(directories, step, original)
            self.reached.set()
            assert self.go_on.wait(60)
            return original(*arguments, **named)

        monkeypatch.setattr(directories, step, halted)


def _waits(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set when an attempt to add something begins to wait for a change of files."""
    waits = threading.Event()
    original = FileChanges._check_stays

    def check(*arguments: Any) -> None:
        waits.set()
        original(*arguments)

    monkeypatch.setattr(FileChanges, "_check_stays", check)
    return waits


def test_a_rename_that_cannot_move_leaves_statistics_and_columns(lake: Lake) -> None:
    before = lake.seen("d")
    _path(lake, "u").mkdir()
    table = Tables(lake.store, lake.warehouse).get(T)
    assert table.storage is not None
    other_columns = replace(table.storage, columns=(Column("c", "string"),))
    with pytest.raises(InvalidOperation, match="exists already"):
        TableAlterations(lake.store, lake.warehouse).alter(T, replace(table, name=U, storage=other_columns))
    _path(lake, "u").rmdir()
    assert lake.seen("d") == before
    assert Tables(lake.store, lake.warehouse).get(T) == table


def test_a_rename_that_fails_in_its_last_step_changes_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lake.seen("d")

    def refuse(*_: Any) -> None:
        raise PermissionError("not allowed")

    with monkeypatch.context() as patched:
        patched.setattr(directories, "rename", refuse)
        with pytest.raises(InvalidOperation, match=r"could not be moved to .*: not allowed"):
            _rename(lake)
    assert lake.seen("d") == before
    _rename(lake)
    assert lake.faults("d") == []


def test_a_copy_that_fails_changes_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lake.seen("d")
    monkeypatch.setattr(directories, "renames", lambda _: False)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(directories, "_copy_file", refuse)
        with pytest.raises(InvalidOperation, match=r"could not be moved to .*: no room"):
            _rename(lake)
    assert lake.seen("d") == before


def test_a_table_that_is_made_where_another_moves_waits(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directories, "renames", lambda _: False)
    halted = _Halted(monkeypatch, "copy")
    with ThreadPoolExecutor(2) as threads:
        renamed = threads.submit(_rename, lake)
        assert halted.reached.wait(60)
        made = threads.submit(other.add_table, TableName("hive", "d", "late"), ["7"])
        made.result(60)
        taken = threads.submit(other.add_table, U, ["8"])
        dropped = threads.submit(_drop, other)
        assert not taken.done()
        assert not dropped.done()
        halted.go_on.set()
        renamed.result(60)
        with pytest.raises(AlreadyExists):
            taken.result(60)
        with pytest.raises(NoSuchObject):
            dropped.result(60)
    assert other.faults("d") == []
    assert set(other.seen("d")["catalog"]) == {"u", "late", "other"}


def test_files_that_come_while_others_are_copied_move_too(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directories, "renames", lambda _: False)
    original = directories.copy
    late = iter(["3", "4"])

    def copy(*arguments: Any) -> None:
        original(*arguments)
        for each in late:
            lake.add_partitions(T, [each])
            break

    monkeypatch.setattr(directories, "copy", copy)
    _rename(lake)
    assert lake.faults("d") == []
    assert set(lake.seen("d")["catalog"]["u"]["partitions"]) == {"k=1", "k=2", "k=3", "k=4"}


def test_a_directory_that_is_written_to_all_the_time_is_not_moved(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directories, "renames", lambda _: False)
    original, numbers = directories.copy, iter(range(100))

    def copy(*arguments: Any) -> None:
        original(*arguments)
        _path(lake, f"t/k=1/late-{next(numbers)}").write_text("late")

    monkeypatch.setattr(directories, "copy", copy)
    with pytest.raises(InvalidOperation, match="its files keep changing"):
        _rename(lake)
    assert not _path(lake, "u").exists()
    assert lake.seen("d")["under way"] == 0


def test_a_server_that_is_alive_is_left_to_its_work(lake: Lake, other: Lake) -> None:
    number = other.store.presence.owner_id()
    _leave(lake, Kind.REMOVE, "t", owner=number)
    _recover(lake)
    assert _path(lake, "t").exists()
    other.store.presence.close()
    while lake.seen("d")["under way"]:
        _recover(lake)  # PostgreSQL notices in a moment


@pytest.mark.slow
def test_nobody_waits_for_ever(lake: Lake, other: Lake) -> None:
    _leave(lake, Kind.COPY, "t", "u", owner=other.store.presence.owner_id())
    lake.store.patience_seconds = 0.1
    for change in (_drop, _rename):
        with pytest.raises(FilesBusy, match=r"d\.db/t is in use: copy of table hive\.d\.t is in progress"):
            change(lake)
    with pytest.raises(FilesBusy, match="is in use"):
        Truncation(lake.store, lake.warehouse).truncate(T, None)
    with pytest.raises(FilesBusy, match="is in use"):
        Databases(lake.store, lake.warehouse).drop(DatabaseName("hive", "d"), delete_data=True, cascade=True)
    with pytest.raises(FilesBusy, match="is in use"):
        PartitionMoves(lake.store, lake.warehouse).rename(T, ["1"], Partition(values=("9",)))
    lake.add_table(TableName("hive", "d", "elsewhere"), ["1"])
    _drop(lake, TableName("hive", "d", "elsewhere"))


def _insert_rows(lake: Lake, value: str) -> None:
    """What an engine does at the end of an INSERT into a partition: its file is there, and the partition says so."""
    _path(lake, f"t/k={value}").mkdir(exist_ok=True)
    _path(lake, f"t/k={value}/new").write_text("new rows")
    stated = {"numRows": "3", "numFiles": "1", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    partition = Partition(values=(value,), storage=Storage(columns=(Column("c", "bigint"),)), parameters=stated)
    changes = PartitionChanges(lake.store, lake.warehouse)
    known = Partitions(lake.store).by_names(T, [f"k={value}"]).partitions
    if known:
        changes.alter(T, [replace(each, parameters=stated) for each in known.values()])
    else:
        changes.add(T, [partition])


def _drop_first(lake: Lake) -> None:
    PartitionChanges(lake.store, lake.warehouse).drop(T, ["1"], delete_data=True)


@pytest.mark.parametrize("inserted", ["1", "3"])
def test_rows_that_are_inserted_during_a_truncation_are_not_said_to_be_none(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, inserted: str
) -> None:
    original = Warehouse.empty_directories

    def empty(*arguments: Any, **named: Any) -> None:
        original(*arguments, **named)
        _insert_rows(lake, inserted)

    monkeypatch.setattr(Warehouse, "empty_directories", empty)
    Truncation(lake.store, lake.warehouse).truncate(T, None)
    found = lake.seen("d")
    assert [each for each in found["files"] if not each.endswith("/")] == [f"t/k={inserted}/new"]
    said = {name: each for name, (_, each) in found["catalog"]["t"]["partitions"].items()}
    nothing_known = {"numRows": None, "numFiles": None, "COLUMN_STATS_ACCURATE": None, "analyzed": False}
    assert said.pop(f"k={inserted}") == nothing_known
    assert {each["numRows"] for each in said.values()} == {"0"}
    parameters = Tables(lake.store, lake.warehouse).get(T).parameters
    assert {"numRows", "COLUMN_STATS_ACCURATE"}.isdisjoint(parameters)


@pytest.mark.parametrize("inserted", ["1", "3"])
def test_a_left_truncation_takes_no_rows_that_came_after_it(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, inserted: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(FileChanges, "_truncate", lambda *_: None)
        Truncation(lake.store, lake.warehouse).truncate(T, None)
    _own_by_nobody(lake)
    _insert_rows(lake, inserted)
    _recover(lake)
    found = lake.seen("d")
    assert f"t/k={inserted}/new" in found["files"]
    assert found["under way"] == 0
    _, said = found["catalog"]["t"]["partitions"][f"k={inserted}"]
    assert (said["numRows"], said["COLUMN_STATS_ACCURATE"]) == ("3", None)


def test_a_rename_at_the_end_of_a_truncation_leaves_no_counts(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table has a directory of another name, which stays where it is; the rename may have to wait for the end."""
    table = Tables(lake.store, lake.warehouse).get(T)
    assert table.storage is not None
    elsewhere = replace(table, storage=replace(table.storage, location=_at(lake, "elsewhere")))
    TableAlterations(lake.store, lake.warehouse).alter(T, elsewhere)
    original, names = tables.find_name, list[TableName | None]()
    with ThreadPoolExecutor(1) as threads:

        def find_name(*arguments: Any) -> TableName | None:
            names.append(original(*arguments))
            wait([threads.submit(_rename, other)], timeout=1)
            return names[-1]

        monkeypatch.setattr(tables, "find_name", find_name)
        Truncation(lake.store, lake.warehouse).truncate(T, None)
    assert names == [T]
    partitions = lake.seen("d")["catalog"]["u"]["partitions"].values()
    assert {(said["numRows"], said["analyzed"]) for _, said in partitions} == {("0", False)}


def _own_by_nobody(lake: Lake) -> None:
    lake.store.write(lambda unit: unit.connection.execute(update(HMSTATS_FILE_CHANGE).values(OWNER=GONE)))


def test_a_partition_whose_files_a_drop_removes_meanwhile_is_refused(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    halted, waits = _Halted(monkeypatch, "remove"), _waits(monkeypatch)
    with ThreadPoolExecutor(2) as threads:
        dropped = threads.submit(_drop_first, lake)
        assert halted.reached.wait(60)
        _insert_rows(other, "3")
        added = threads.submit(_insert_rows, other, "1")
        assert waits.wait(60)
        assert not added.done()
        halted.go_on.set()
        dropped.result(60)
        with pytest.raises(MetaError, match=r"nothing was added: .*t/k=1/new was removed by a remove of partitions of"):
            added.result(60)
    assert set(other.seen("d")["catalog"]["t"]["partitions"]) == {"k=2", "k=3"}
    _insert_rows(other, "1")
    assert _path(other, "t/k=1/new").exists()


def test_a_partition_without_files_waits_for_the_removal_of_its_directory(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    halted, waits = _Halted(monkeypatch, "remove_empty_parents"), _waits(monkeypatch)
    with ThreadPoolExecutor(2) as threads:
        dropped = threads.submit(_drop_first, lake)
        assert halted.reached.wait(60)
        added = threads.submit(PartitionChanges(other.store, other.warehouse).append, T, ["1"])
        assert waits.wait(60)
        assert not added.done()
        halted.go_on.set()
        dropped.result(60)
        added.result(60)
    assert _path(lake, "t/k=1").is_dir()


def test_a_partition_is_not_added_where_another_is_copied_to(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directories, "renames", lambda _: False)
    halted = _Halted(monkeypatch, "copy")
    moves = PartitionMoves(lake.store, lake.warehouse)
    with ThreadPoolExecutor(2) as threads:
        renamed = threads.submit(moves.rename, T, ["1"], Partition(values=("9",)))
        assert halted.reached.wait(60)
        added = threads.submit(PartitionChanges(other.store, other.warehouse).append, T, ["9"])
        halted.go_on.set()
        renamed.result(60)
        with pytest.raises(AlreadyExists):
            added.result(60)
    assert other.seen("d")["under way"] == 0
    assert _path(lake, "t/k=9/part-0").exists()


def test_a_left_removal_spares_the_files_of_a_partition_that_is_added(lake: Lake) -> None:
    _drop_first(lake)
    table_id = Tables(lake.store, lake.warehouse).get(T).id
    _leave(lake, Kind.REMOVE, "t/k=1", table_id=table_id)
    _insert_rows(lake, "1")
    assert _path(lake, "t/k=1/new").exists()
    assert lake.seen("d")["under way"] == 0


def test_a_directory_that_was_written_to_is_not_removed_as_an_empty_parent(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = directories.is_link

    def is_link(files: fs.FileSystem, path: str) -> bool:
        if path.endswith("/t"):
            _path(lake, "t/late").write_text("late")
        return original(files, path)

    for each in ("t/k=1", "t/k=2"):
        shutil.rmtree(_path(lake, each))
    monkeypatch.setattr(directories, "is_link", is_link)
    directories.remove_empty_parents(fs.LocalFileSystem(), str(_path(lake, "t/k=1")), 1)
    assert _path(lake, "t/late").exists()


def test_who_comes_after_a_dead_server_settles_its_change(lake: Lake) -> None:
    _leave(lake, Kind.REMOVE, "late/k=1", table_id=None)
    lake.write_files(_at(lake, "late/k=1"))
    lake.add_table(TableName("hive", "d", "late"), [])
    assert not _path(lake, "late/k=1").exists()
    _leave(lake, Kind.PLANNED, "t", "u")
    _rename(lake)
    assert lake.faults("d") == []


def test_a_left_removal_spares_what_is_there_by_now(lake: Lake) -> None:
    _drop(lake)
    lake.add_table(T, ["1"])
    table_id = Tables(lake.store, lake.warehouse).get(T).id
    lake.write_files(_at(lake, "t/k=2"))
    _leave(lake, Kind.REMOVE, "t/k=1", "t/k=2", table_id=table_id, keys=1)
    with capture_logs() as lines:
        _recover(lake)
    assert lake.faults("d") == []
    assert [each["locations"] for each in lines if each["event"] == "directories_left"] == [[_at(lake, "t/k=1")]]


def test_a_change_that_another_server_took_over_is_not_committed(
    lake: Lake, other: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a server loses its connection to PostgreSQL, and with it what shows that it is alive."""
    monkeypatch.setattr(directories, "renames", lambda _: False)
    before = lake.seen("d")
    halted = _Halted(monkeypatch, "copy")
    with ThreadPoolExecutor(1) as threads:
        renamed = threads.submit(_rename, lake)
        assert halted.reached.wait(60)
        monkeypatch.setattr(other.store.presence, "is_abandoned", lambda *_: True)
        _recover(other)
        halted.go_on.set()
        with pytest.raises(FilesBusy, match="another server has taken over the change of its directories"):
            renamed.result(60)
    assert lake.seen("d")["catalog"] == before["catalog"]
    assert lake.seen("d")["under way"] == 0


def test_a_drop_stands_though_its_row_cannot_be_removed(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("the database is away")

    with monkeypatch.context() as patched, capture_logs() as lines:
        patched.setattr(file_changes, "remove", refuse)
        _drop(lake)
    assert [each["event"] for each in lines] == ["file_change_left"]
    assert (set(lake.seen("d")["catalog"]), lake.under_way()) == ({"other"}, 1)
    _recover(lake)
    assert lake.faults("d") == []


def test_two_servers_that_settle_one_change_do_it_once(lake: Lake, other: Lake) -> None:
    for number in range(10):
        _path(lake, f"x{number}").mkdir()
        _leave(lake, Kind.REMOVE, f"x{number}")
    with capture_logs() as lines, ThreadPoolExecutor(4) as threads:
        list(threads.map(_recover, [lake, other, lake, other]))
    _recover(lake)
    assert lake.seen("d")["under way"] == 0
    assert not list(_path(lake, "").glob("x*"))
    assert len([each for each in lines if each["event"] == "file_change_settled"]) == 10


def test_a_truncation_that_cannot_empty_says_so_and_no_zero(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    original = directories.empty

    def empty(files: fs.FileSystem, path: str) -> None:
        if path.endswith("k=2"):
            raise PermissionError("not allowed")
        original(files, path)

    monkeypatch.setattr(directories, "empty", empty)
    with pytest.raises(MetaError, match=r"k=2 could not be emptied: not allowed"):
        Truncation(lake.store, lake.warehouse).truncate(T, None)
    found = lake.seen("d")
    assert found["under way"] == 0
    for _, said in found["catalog"]["t"]["partitions"].values():
        assert (said["numRows"], said["COLUMN_STATS_ACCURATE"]) == ("7", None)


def test_a_drop_notes_its_directories_in_two_statements(
    store: Store, warehouse: Warehouse, statements: StatementCounter
) -> None:
    Databases(store, warehouse).ensure_default()
    storage = Storage(columns=(Column("c", "bigint"),))
    counts = {}
    for kind in ("warm up", "MANAGED_TABLE", "EXTERNAL_TABLE"):
        external = {"EXTERNAL": "TRUE"} if kind == "EXTERNAL_TABLE" else {}
        name = TableName("hive", "default", "x")
        with statements() as counted:
            Tables(store, warehouse).create(Table(name=name, storage=storage, parameters=external))
        created = len(counted)
        with statements() as counted:
            Tables(store, warehouse).drop(name, delete_data=True)
        counts[kind] = created, [each for each in counted if "HMSTATS_FILE_CHANGE" in str(each)]
    assert counts["MANAGED_TABLE"][0] == counts["EXTERNAL_TABLE"][0]
    assert len(counts["MANAGED_TABLE"][1]) == 2
    assert counts["EXTERNAL_TABLE"][1] == []


def test_what_is_moved_is_told_from_what_is_near() -> None:
    change = FileChange(1, GONE, Kind.COPY, "t", ("file:/w/t", "s3a://b/u"))
    for near in ("file:///w/t", "/w/t/k=1", "/w", "s3://b/u/x", "s3n://b/"):
        assert change.is_near([near]), near
    for far in ("/w/t2", "/w/u", "s3://b/u2", "s3://c/u"):
        assert not change.is_near([far]), far
