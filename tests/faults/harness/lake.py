"""A small database with files and statistics, and what catalog and files say of it together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyarrow import fs
from sqlalchemy import func, select

from hmstats.files import directories
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.objects import Column, Database, DatabaseName, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import HMSTATS_FILE_CHANGE
from hmstats.store.statistics import column_statistics

_COLUMN = Column("c", "bigint")
_STATED = ("numRows", "numFiles", "COLUMN_STATS_ACCURATE")
_FILES = ("part-0", "part-1")


@dataclass(frozen=True)
class Lake:
    """A store and a warehouse."""

    store: Store
    warehouse: Warehouse

    def make(self, database: str) -> None:
        """Make a database with the tables `t`, of two partitions that are analysed, and `other`, of none."""
        Databases(self.store, self.warehouse).ensure_default()
        Databases(self.store, self.warehouse).create(Database(name=DatabaseName("hive", database), location=""))
        for each, values in (("t", ("1", "2")), ("other", ())):
            self.add_table(TableName("hive", database, each), values)

    def add_table(self, name: TableName, values: Sequence[str]) -> None:
        """Make a table with partitions of these values, with files and statistics."""
        storage = Storage(columns=(_COLUMN,))
        table = Table(name=name, storage=storage, partition_keys=(Column("k", "int"),))
        Tables(self.store, self.warehouse).create(table)
        self.add_partitions(name, values)

    def add_partitions(self, name: TableName, values: Sequence[str]) -> None:
        """Add partitions with files and statistics."""
        stated = {"numRows": "7", "numFiles": "2", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
        new = [Partition(values=(each,), storage=Storage(columns=(_COLUMN,)), parameters=stated) for each in values]
        added = PartitionChanges(self.store, self.warehouse).add(name, new) if new else []
        for each in added:
            assert each.storage is not None
            self.write_files(each.storage.location)
        self._analyze(name, [f"k={each}" for each in values])

    def write_files(self, location: str | None) -> None:
        """Put two files into a directory."""
        files, path = open_location(str(location))
        files.create_dir(path, recursive=True)
        for each in _FILES:
            with files.open_output_stream(f"{path}/{each}") as out:
                out.write(f"rows of {path} {each}".encode())

    def _analyze(self, name: TableName, names: Sequence[str]) -> None:
        data = (ColumnStatistics("c", "bigint", LongStatistics(nulls=1, ndv=2)),)
        StatisticsWriter(self.store).update_partitions(name, [StatisticsSet(data, each) for each in names])

    def seen(self, database: str) -> dict[str, Any]:
        """What the catalog says, the paths of all files and directories, and how many changes are under way."""
        return {"catalog": self._catalog(database), "files": self._files(database), "under way": self.under_way()}

    def faults(self, database: str) -> list[str]:
        """Files that are not where the catalog says that there are rows, and statistics that are not of them."""
        found = self.seen(database)
        placed = [each for table in found["catalog"].values() for each in table["partitions"].values()]
        files = {each for each in found["files"] if not each.endswith("/")}
        wanted = {
            f"{at.removeprefix(database + '.db/')}/{file}"
            for at, said in placed
            if said["numRows"] == "7"
            for file in _FILES
        }
        return [
            *(f"{each} is missing" for each in sorted(wanted - files)),
            *(f"{each} is left over" for each in sorted(files - wanted)),
            *(f"{at}: {said}" for at, said in placed if (said["numRows"] == "7") > said["analyzed"]),
            *(f"{at}: {said}" for at, said in placed if (said["numRows"] == "0") and said["analyzed"]),
            *([f"{found['under way']} changes are under way"] if found["under way"] else []),
        ]

    def _catalog(self, database: str) -> dict[str, Any]:
        parent = DatabaseName("hive", database)
        with self.store.read() as connection:
            found = tables.get_many(connection, parent, tables.names(connection, parent))
            return {each.name.table: self._table(connection, each) for each in found}

    def _table(self, connection: Any, table: Table) -> dict[str, Any]:
        assert table.id is not None
        assert table.storage is not None
        named = partitions.get_many(connection, table.id, list(partitions.names(connection, table.id)))
        analyzed = column_statistics.read_partitions(connection, table.id, None, None, None)
        of_partitions = {
            name: (
                self._relative(each.storage.location if each.storage else ""),
                {key: each.parameters.get(key) for key in _STATED} | {"analyzed": name in analyzed},
            )
            for name, each in named.items()
        }
        return {"at": self._relative(table.storage.location), "partitions": of_partitions}

    def _relative(self, location: str | None) -> str:
        return str(location).removeprefix(self.warehouse.root + "/")

    def _files(self, database: str) -> list[str]:
        files, path = open_location(f"{self.warehouse.root}/{database}.db")
        found = directories.listing(files, path)
        ending = "/" if files.type_name == "local" else None  # a store has no directories of its own
        named = {fs.FileType.File: "", fs.FileType.Directory: ending}
        return sorted(name + end for name, each in found.items() if (end := named.get(each.type)) is not None)

    def under_way(self) -> int:
        """How many changes of files are under way."""
        with self.store.read() as connection:
            return int(connection.execute(select(func.count()).select_from(HMSTATS_FILE_CHANGE)).scalar_one())
