"""Directories outside the roots: nothing is done to them, and nothing is said to be done."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import InvalidObject, InvalidOperation, MetaError
from hmstats.model.catalog.objects import (
    Catalog,
    Column,
    Database,
    DatabaseName,
    Partition,
    SerDe,
    Storage,
    Table,
    TableName,
)
from hmstats.service.catalog.databases.catalogs import Catalogs
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse
from hmstats.store.database.store import Store

COLUMNS, KEYS = (Column("c", "bigint"),), (Column("k", "int"),)
EXTERNAL = {"EXTERNAL": "TRUE"}


class _Rules:
    """The rules over one store, with a warehouse of its own."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self.warehouse = warehouse
        self.databases, self.tables = Databases(store, warehouse), Tables(store, warehouse)
        self.alterations, self.truncation = TableAlterations(store, warehouse), Truncation(store, warehouse)
        self.partitions, self.moves = PartitionChanges(store, warehouse), PartitionMoves(store, warehouse)
        self.catalogs = Catalogs(store, warehouse)
        self.databases.ensure_default()

    def database(self, name: str, location: Path | str | None = None) -> None:
        at = "" if location is None else str(location)
        self.databases.create(Database(name=DatabaseName("hive", name), location=at))

    def table(
        self,
        name: str,
        location: Path | str | None = None,
        *,
        database: str = "default",
        parameters: dict[str, str] | None = None,
        partitions: Sequence[str | None] = (),
    ) -> Path:
        """A table with a file; one with partitions has them where they are said to be. Where it lies."""
        full = TableName("hive", database, name)
        storage = Storage(columns=COLUMNS, location=None if location is None else str(location))
        keys = KEYS if partitions else ()
        self.tables.create(Table(name=full, storage=storage, partition_keys=keys, parameters=parameters or {}))
        new = [
            Partition(values=(str(number),), storage=replace(storage, location=each))
            for number, each in enumerate(partitions)
        ]
        places = [each.storage.location for each in self.partitions.add(full, new) if each.storage] if new else []
        made = self.tables.get(full)
        assert made.storage is not None
        for each in (made.storage.location, *places):
            folder = _path(each)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "part-0").write_text(name)
        return _path(made.storage.location)


def _path(location: str | None) -> Path:
    return Path(str(location).removeprefix("file:"))


def _name(table: str, database: str = "default") -> TableName:
    return TableName("hive", database, table)


def _renamed(catalog: _Rules, old: str, new: str, database: str = "default", **storage: Any) -> None:
    table = catalog.tables.get(_name(old, database))
    assert table.storage is not None
    named = replace(table, name=_name(new, database), storage=replace(table.storage, **storage))
    catalog.alterations.alter(_name(old, database), named)


@pytest.fixture
def everywhere(store: Store, tmp_path: Path) -> _Rules:
    """Directories are changed everywhere."""
    return _Rules(store, Warehouse(str(tmp_path / "warehouse"), [EVERYWHERE]))


@pytest.fixture
def narrow(everywhere: _Rules, store: Store, tmp_path: Path) -> _Rules:
    """Now they are changed in the warehouse alone."""
    return _Rules(store, Warehouse(str(tmp_path / "warehouse")))


def test_a_databases_directories_are_made_moved_and_removed_everywhere(everywhere: _Rules, tmp_path: Path) -> None:
    everywhere.database("d", tmp_path / "far")
    assert (tmp_path / "far").is_dir()
    assert everywhere.table("t", database="d", partitions=[None, None]) == tmp_path / "far" / "t"
    _renamed(everywhere, "t", "u", "d")
    assert (tmp_path / "far" / "u" / "k=0" / "part-0").read_text() == "t"
    everywhere.partitions.drop(_name("u", "d"), ["0"], delete_data=True)
    assert not (tmp_path / "far" / "u" / "k=0").exists()
    everywhere.databases.drop(DatabaseName("hive", "d"), delete_data=True, cascade=True)
    assert not (tmp_path / "far").exists()


def test_what_would_lie_outside_is_refused_when_it_is_made(narrow: _Rules, tmp_path: Path) -> None:
    with pytest.raises(MetaError, match=r"database d must lie in .*warehouse_roots"):
        narrow.database("d", tmp_path / "far")
    with pytest.raises(MetaError, match=r"managed table .*t must lie in .*warehouse_roots"):
        narrow.table("t", tmp_path / "far")
    with pytest.raises(MetaError, match=r"catalog c must lie in .*warehouse_roots"):
        narrow.catalogs.create(Catalog("c", f"file:{tmp_path}/far", None, None))
    assert not (tmp_path / "far").exists()
    narrow.table("t")
    table = narrow.tables.get(_name("t"))
    assert table.storage is not None
    with pytest.raises(MetaError, match=r"managed table .*t must lie in"):
        narrow.alterations.alter(
            _name("t"), replace(table, storage=replace(table.storage, location=f"file:{tmp_path}/far"))
        )
    narrow.database("d")
    database = narrow.databases.get(DatabaseName("hive", "d"))
    with pytest.raises(MetaError, match="database d must lie in"):
        narrow.databases.alter(database.name, replace(database, location=f"file:{tmp_path}/far"))


def test_an_external_table_lies_anywhere_and_is_not_touched(narrow: _Rules, tmp_path: Path) -> None:
    place = narrow.table("t", tmp_path / "far", parameters=EXTERNAL, partitions=[None])
    _renamed(narrow, "t", "u")
    narrow.moves.rename(_name("u"), ["0"], Partition(values=("1",), storage=Storage(columns=COLUMNS)))
    with capture_logs() as lines:
        narrow.tables.drop(_name("u"), delete_data=True)
    assert (place / "k=0" / "part-0").read_text() == "t"
    assert lines == []
    with pytest.raises(MetaError, match=r"managed table .*v must lie in"):
        narrow.table("v", tmp_path / "far", parameters={"EXTERNAL": "FALSE"})


def test_files_outside_are_counted(narrow: _Rules, tmp_path: Path) -> None:
    """Listing changes nothing."""
    place = narrow.table("t", tmp_path / "far", parameters=EXTERNAL, partitions=[None])
    (place / "k=1").mkdir()
    (place / "k=1" / "part-0").write_text("four")
    new = Partition(values=("1",), storage=Storage(columns=COLUMNS))
    (found,) = (each.parameters for each in narrow.partitions.add(_name("t"), [new]))
    assert (found["numFiles"], found["totalSize"]) == ("1", "4")


def test_an_external_table_outside_does_not_become_a_managed_one(narrow: _Rules, tmp_path: Path) -> None:
    narrow.table("t", tmp_path / "far", parameters=EXTERNAL)
    table = narrow.tables.get(_name("t"))
    with pytest.raises(MetaError, match=r"managed table .*t must lie in"):
        narrow.alterations.alter(_name("t"), replace(table, parameters={"EXTERNAL": "FALSE"}))


def test_a_rename_that_would_have_to_move_is_refused_before_anything_changes(
    everywhere: _Rules, store: Store, tmp_path: Path
) -> None:
    everywhere.database("d", tmp_path / "far")
    everywhere.table("t", database="d", partitions=[None])
    narrow = _Rules(store, Warehouse(str(tmp_path / "warehouse")))
    before = narrow.tables.get(_name("t", "d"))
    with pytest.raises(InvalidOperation, match=r"cannot be renamed: .*far/t would have to move to .*far/u"):
        _renamed(narrow, "t", "u", "d")
    with pytest.raises(InvalidOperation, match=r"partition of table .*t cannot be renamed"):
        narrow.moves.rename(_name("t", "d"), ["0"], Partition(values=("1",), storage=Storage(columns=COLUMNS)))
    assert narrow.tables.get(_name("t", "d")) == before
    assert (tmp_path / "far" / "t" / "k=0" / "part-0").exists()


def test_an_exchange_that_would_have_to_move_is_refused(everywhere: _Rules, store: Store, tmp_path: Path) -> None:
    everywhere.database("d", tmp_path / "far")
    for name in ("t", "u"):
        everywhere.table(name, database="d", partitions=[f"file:{tmp_path}/elsewhere/x" if name == "u" else None])
    everywhere.partitions.drop(_name("u", "d"), ["0"], delete_data=False)
    narrow = _Rules(store, Warehouse(str(tmp_path / "warehouse")))
    with pytest.raises(MetaError, match="would have to move"):
        narrow.moves.exchange({"k": "0"}, _name("t", "d"), _name("u", "d"))
    assert (tmp_path / "far" / "t" / "k=0" / "part-0").exists()


def test_a_truncation_outside_is_refused(everywhere: _Rules, store: Store, tmp_path: Path) -> None:
    everywhere.database("d", tmp_path / "far")
    place = everywhere.table("t", database="d")
    narrow = _Rules(store, Warehouse(str(tmp_path / "warehouse")))
    with pytest.raises(MetaError, match=r"t cannot be truncated: file:.*far/t does not lie in"):
        narrow.truncation.truncate(_name("t", "d"), None)
    narrow.truncation.truncate(_name("t", "d"), None, delete_data=False)
    assert (place / "part-0").exists()


def test_a_drop_outside_says_what_it_left(everywhere: _Rules, store: Store, tmp_path: Path) -> None:
    everywhere.database("d", tmp_path / "far")
    place = everywhere.table("t", database="d", partitions=[None, None])
    narrow = _Rules(store, Warehouse(str(tmp_path / "warehouse")))
    left = []
    with capture_logs() as lines:
        narrow.partitions.drop(_name("t", "d"), ["0"], delete_data=True)
        narrow.tables.drop(_name("t", "d"), delete_data=True)
        narrow.databases.drop(DatabaseName("hive", "d"), delete_data=True, cascade=False)
    for line in lines:
        assert (line["event"], line["log_level"]) == ("directories_left", "warning")
        left += line["locations"]
    assert left == [f"file:{place}/k=0", f"file:{place}", f"file:{tmp_path}/far"]
    assert (place / "k=0" / "part-0").exists()


@pytest.mark.parametrize("name", [".", ".."])
def test_nothing_is_called_like_a_directory_that_is_there(everywhere: _Rules, name: str) -> None:
    with pytest.raises(InvalidObject):
        everywhere.database(name)
    with pytest.raises(InvalidObject):
        everywhere.table(name)
    everywhere.table("t")
    with pytest.raises(InvalidOperation):
        _renamed(everywhere, "t", name)


@pytest.mark.parametrize("name", ["../t", "x/..", "a/../../t"])
def test_a_name_with_a_way_out_is_a_directory_of_its_own(everywhere: _Rules, name: str) -> None:
    other = everywhere.table("t")
    place = everywhere.table(name)
    assert place.parent == other.parent
    everywhere.tables.drop(_name(name), delete_data=True)
    assert not place.exists()
    assert (other / "part-0").exists()


@pytest.mark.parametrize("value", [".", "..", "../..", "../../u"])
def test_a_partition_whose_value_is_dots_has_a_directory_of_its_own(
    everywhere: _Rules, tmp_path: Path, value: str
) -> None:
    other = everywhere.table("u")
    keys = (Column("a", "string"), Column("b", "string"))
    storage = Storage(columns=COLUMNS)
    everywhere.tables.create(Table(name=_name("t"), storage=storage, partition_keys=keys))
    table = tmp_path / "warehouse" / "t"
    given = [("0", "0"), (value, "0"), ("0", value), (value, value)]
    made = everywhere.partitions.add(_name("t"), [Partition(values=each, storage=storage) for each in given])
    places = [_path(each.storage.location) for each in made if each.storage]
    assert len({place.resolve() for place in places}) == len(given)
    for place in places:
        assert place.resolve() == place
        assert place.relative_to(table).parts == (place.parent.name, place.name)
        (place / "part-0").write_text("kept")
    for left, values in list(enumerate(given, 1))[1:]:
        everywhere.partitions.drop(_name("t"), values, delete_data=True)
        assert [place.exists() for place in places] == [True] + [False] * (left - 1) + [True] * (len(given) - left)
    assert (other / "part-0").exists()


@pytest.mark.parametrize("inner", ["t", "t/deep/er", "."])
def test_a_directory_in_which_something_else_lies_stays(everywhere: _Rules, tmp_path: Path, inner: str) -> None:
    place = everywhere.table("t", tmp_path / "far" / "t")
    other = everywhere.table("other", f"file://{tmp_path}/far/{inner}", parameters=EXTERNAL)
    with capture_logs() as lines:
        everywhere.tables.drop(_name("t"), delete_data=True)
    assert (place / "part-0").exists()
    assert (other / "part-0").exists()
    assert [(line["log_level"], line["locations"]) for line in lines] == [("warning", [f"file:{tmp_path}/far/t"])]
    everywhere.tables.drop(_name("other"), delete_data=True)


def test_a_table_in_anothers_partition_stays_with_it(everywhere: _Rules, tmp_path: Path) -> None:
    place = everywhere.table("t", partitions=[None, None])
    everywhere.table("other", place / "k=1", parameters=EXTERNAL)
    with capture_logs() as lines:
        everywhere.partitions.drop_many(_name("t"), ["k=0", "k=1"], if_exists=False, delete_data=True)
    assert [each.name for each in sorted(place.iterdir())] == ["k=1", "part-0"]
    assert [line["locations"] for line in lines] == [[f"file:{place}/k=1"]]


def test_many_partitions_are_dropped_beside_what_stays(everywhere: _Rules) -> None:
    place = everywhere.table("t", partitions=[None] * 120)
    everywhere.table("other", place / "k=77", parameters=EXTERNAL)
    names = [f"k={number}" for number in range(120)]
    everywhere.partitions.drop_many(_name("t"), names, if_exists=False, delete_data=True)
    assert [each.name for each in sorted(place.iterdir())] == ["k=77", "part-0"]


def test_a_database_around_another_stays(everywhere: _Rules, tmp_path: Path) -> None:
    everywhere.database("outer", tmp_path / "far")
    everywhere.database("inner", tmp_path / "far" / "inner")
    everywhere.databases.drop(DatabaseName("hive", "outer"), delete_data=True, cascade=True)
    assert (tmp_path / "far" / "inner").is_dir()
    everywhere.databases.drop(DatabaseName("hive", "inner"), delete_data=True, cascade=True)
    assert (tmp_path / "far").is_dir()
    assert not (tmp_path / "far" / "inner").exists()


def test_a_database_around_the_warehouse_stays(everywhere: _Rules, tmp_path: Path) -> None:
    everywhere.table("t")
    everywhere.database("outer", tmp_path)
    everywhere.databases.drop(DatabaseName("hive", "outer"), delete_data=True, cascade=True)
    assert (tmp_path / "warehouse" / "t" / "part-0").exists()


@pytest.mark.parametrize("inner", ["", "deep"])
def test_the_files_of_another_table_are_neither_removed_nor_moved(everywhere: _Rules, inner: str) -> None:
    place = everywhere.table("other") / inner
    place.mkdir(exist_ok=True)
    (place / "kept").write_text("other")
    everywhere.table("parts", partitions=[str(place)])
    everywhere.table("same", place)
    with pytest.raises(MetaError, match=r"same cannot be truncated: another object lies in or around file:.*other"):
        everywhere.truncation.truncate(_name("same"), None)
    with pytest.raises(MetaError, match=r"parts cannot be truncated: another object lies in or around file:.*other"):
        everywhere.truncation.truncate(_name("parts"), ["k=0"])
    refused = (
        r"a partition of table hive.default.parts cannot be renamed: another object lies in or around file:.*other"
    )
    with pytest.raises(MetaError, match=refused):
        everywhere.moves.rename(_name("parts"), ["0"], Partition(values=("1",)))
    assert (place / "kept").exists()


def test_a_directory_that_another_table_shares_does_not_move_with_a_name(everywhere: _Rules, tmp_path: Path) -> None:
    place = everywhere.table("other", partitions=[None, None])
    everywhere.database("over", place.parent)
    everywhere.table("other", database="over", partitions=[None, None])
    with pytest.raises(MetaError, match=r"table hive.over.other cannot be renamed: another object lies in or around"):
        _renamed(everywhere, "other", "mine", "over")
    everywhere.table("target", partitions=[str(tmp_path / "elsewhere")])
    with pytest.raises(MetaError, match=r"partitions of table hive.over.other cannot be exchanged: another object"):
        everywhere.moves.exchange({"k": "1"}, _name("other", "over"), _name("target"))
    assert (place / "k=1" / "part-0").exists()


def test_a_truncation_leaves_what_lies_inside(everywhere: _Rules, tmp_path: Path) -> None:
    place = everywhere.table("t", partitions=[None, None])
    everywhere.table("other", place / "k=1" / "deep", parameters=EXTERNAL)
    with pytest.raises(MetaError, match=r"another object lies in or around file:.*k=1"):
        everywhere.truncation.truncate(_name("t"), None)
    assert (place / "k=0" / "part-0").exists()
    everywhere.truncation.truncate(_name("t"), ["k=0"])
    assert not (place / "k=0" / "part-0").exists()
    assert (place / "k=1" / "deep" / "part-0").exists()


def test_partitions_that_a_client_spelled_otherwise_move_along(everywhere: _Rules, tmp_path: Path) -> None:
    place = everywhere.table("t", partitions=[f"file://{tmp_path}/warehouse/t/k=0", f"file:///{tmp_path}/x/k=1"])
    _renamed(everywhere, "t", "u")
    moved = place.with_name("u")
    assert (moved / "k=0" / "part-0").read_text() == "t"
    everywhere.partitions.drop_many(_name("u"), ["k=0", "k=1"], if_exists=False, delete_data=True)
    assert not (moved / "k=0").exists()
    assert not (tmp_path / "x" / "k=1").exists()


def test_a_rename_that_spark_would_misread_is_refused(everywhere: _Rules, tmp_path: Path) -> None:
    """Spark writes the new path by itself, into a parameter that it then reads."""
    serde = SerDe(parameters={"path": f"file:{tmp_path}/own/t"})
    storage = Storage(columns=COLUMNS, location=f"file:{tmp_path}/own/t", serde=serde)
    everywhere.tables.create(Table(name=_name("t"), storage=storage, parameters={}))
    changed = replace(serde, parameters={"path": f"file:{tmp_path}/warehouse/u"})
    with pytest.raises(InvalidOperation, match=r"would name the path .*warehouse/u, but its files stay in .*own/t"):
        _renamed(everywhere, "t", "u", serde=changed)
    _renamed(everywhere, "t", "u")
    assert everywhere.tables.get(_name("u")).storage == storage


def test_the_look_at_what_lies_there_is_one_statement(everywhere: _Rules, statements: StatementCounter) -> None:
    counts = []
    for number in (2, 40):
        everywhere.table("t", partitions=[None] * number)
        names = [f"k={each}" for each in range(number)]
        with statements() as dropping:
            everywhere.partitions.drop_many(_name("t"), names, if_exists=False, delete_data=True)
        everywhere.tables.drop(_name("t"), delete_data=True)
        counts.append(len([each for each in dropping if "near" in str(each)]))
    assert counts == [1, 1]
