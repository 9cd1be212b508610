"""The earlier versions of a Delta Lake table to which rows were only added since, judged by the entries of its log.

Appends add files; compactions and other commits without a change of data change no row. Where files were removed or
got a deletion vector since, or where the schema has changed, the table is read as a whole: what the rows were is not
known without reading them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from hmstats.collector.lake.opened import AddedFiles, EarlierVersion
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.arrow_types import as_column
from hmstats.collector.scan.parquet import parquet_batches
from hmstats.collector.scan.splits import Split
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.files.file_systems import Settings, open_location

_MOST_COMMITS = 1_000
"""Entries of the log are looked through from the newest back, each with a request of its own."""
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_SCHEME = re.compile(r"[a-z0-9]+:/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A column: its type in the metastore, and its name in data files."""

    type: str
    stored_name: str


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A live file with the values of its partition columns, by their names in the log."""

    file: DataFile
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a table at a location, whose newest version is `version`.

    `live` are the live files by their path as the log has it, `columns` all columns by their names in the metastore.
    `partitioned_by` are the partition columns' names in the metastore. `settings` are Hadoop's for the location.
    """

    table_id: str
    location: str
    version: int
    live: Mapping[str, LiveFile]
    columns: Mapping[str, LogColumn]
    partitioned_by: frozenset[str]
    settings: Settings

    def earlier(self) -> Iterator[EarlierVersion]:
        """The versions to which rows were only added since, the newest first."""
        added: list[str] = []
        for version in range(self.version, max(self.version - _MOST_COMMITS, 0), -1):
            paths = added_paths(self._read_entries(version))
            if paths is None:
                return
            added = [*paths, *added]
            yield self._version(version - 1, tuple(added))

    def _version(self, version: int, paths: Sequence[str]) -> EarlierVersion:
        return EarlierVersion(
            version_of(version), identity_of(self.table_id, version), lambda _sketched: self._files(paths)
        )

    def _read_entries(self, version: int) -> list[Mapping[str, Any]]:
        """The entries of a commit; none if the log has it no more."""
        system, path = open_location(f"{self.location.rstrip('/')}/_delta_log/{version:020}.json", self.settings)
        try:
            with system.open_input_stream(path) as file:
                return [json.loads(line) for line in file.read().splitlines() if line.strip()]
        except (OSError, ValueError):
            return []

    def _files(self, paths: Sequence[str]) -> AddedFiles | None:
        """The files of these paths; None if one was replaced since, by a compaction, or lies in another place."""
        if any(path not in self.live or _SCHEME.match(path) for path in paths):
            return None
        found = [self.live[path] for path in paths]
        return AddedFiles([each.file for each in found], lambda names: self._rows(found, names), {})

    def _rows(self, files: Sequence[LiveFile], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for each in files:
            yield from self._rows_of(each, names)

    def _rows_of(self, live: LiveFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        place = f"{self.location.rstrip('/')}/{unquote(live.file.path)}"
        in_file = {name: self.columns[name] for name in names if name not in self.partitioned_by}
        stored = {each.stored_name.lower(): each.type for each in in_file.values()}
        try:
            path = open_location(place, self.settings)[1]
            split = Split(WHOLE_TABLE, place, path, None, live.file.bytes, settings=self.settings)
            for batch in parquet_batches(split, stored, Reads()):
                yield self._batch(batch, live.values, names)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableFile(f"file {place} cannot be read: {error}") from error

    def _batch(self, batch: pa.RecordBatch, values: Mapping[str, Any], names: Sequence[str]) -> pa.RecordBatch:
        """The batch of a file with its partition's values, by the columns' names in the metastore."""
        arrays = [self._array(name, batch, values) for name in names]
        return pa.RecordBatch.from_arrays(arrays, list(names)) if names else batch

    def _array(self, name: str, batch: pa.RecordBatch, values: Mapping[str, Any]) -> pa.Array:
        column = self.columns[name]
        if name not in self.partitioned_by:
            return batch.column(column.stored_name.lower())
        return as_column(pa.repeat(values[name], batch.num_rows), column.type)


def added_paths(entries: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The paths of the files that a commit with these entries added; None unless it only added rows, or changed none.

    Some entries are of the table itself: metadata change what its columns are.
    """
    if not entries or any("metaData" in each for each in entries):
        return None
    added = [each["add"] for each in entries if "add" in each]
    removed = [each["remove"] for each in entries if "remove" in each]
    if not any(each.get("dataChange", True) for each in (*added, *removed)):
        return []
    if removed or any(each.get("deletionVector") or not each.get("dataChange", True) for each in added):
        return None
    return [str(each["path"]) for each in added]


def version_of(version: int) -> str:
    """A version's name in provenance."""
    return f"Delta Lake version {version}"


def identity_of(table_id: str, version: int) -> str:
    """A text that no other version of any table has."""
    return f"delta {table_id} {version}"


def stored_name(field: Mapping[str, Any]) -> str:
    """A column's name in data files, by its field in the log's schema."""
    return str((field.get("metadata") or {}).get(_PHYSICAL_NAME) or field["name"])
