"""Reads data files of Delta Lake tables by Arrow, which makes the bytes and requests of a read known.

Deleted rows are left out, and partition columns get their values from the log.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.arrow_types import as_column
from hmstats.collector.scan.files.opening import open_split
from hmstats.collector.scan.files.parquet import parquet_batches
from hmstats.collector.scan.files.splits import Split
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.files.file_systems import Settings, open_location

_ELSEWHERE = re.compile(r"([a-z0-9]+:)?/", re.IGNORECASE)
_FIELD_ID = b"PARQUET:field_id"
"""The key of a field's id in the metadata of Arrow's field."""
_THREADS = 16
"""The number of files that are read at once, since the threads wait for a store."""
_MOST_READ_AHEAD_BYTES = 64 * 1024 * 1024
"""Files are read ahead in groups of so many bytes, whose rows are held until used; a larger file is read alone."""


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A column: its type in the metastore, and its name in data files.

    `field_id` is its id there, None unless the log requires that columns are found by ids.
    """

    type: str
    stored_name: str
    field_id: int | None = None


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A live file with the values of its partition columns, by their names in the metastore."""

    file: DataFile
    values: Mapping[str, Any]

    @property
    def is_elsewhere(self) -> bool:
        """Whether its path is a location of its own, not below the table's, as in a shallow clone."""
        return _ELSEWHERE.match(self.file.path) is not None


@dataclass(frozen=True, slots=True)
class DeltaFiles:
    """The data files of a table at a location; `shown` is the table's name for errors.

    `columns` are all columns by their names in the metastore, `partitioned_by` the partition columns' names there.
    `settings` are Hadoop's for the location. `reads` counts the bytes and requests.
    """

    shown: str
    location: str
    columns: Mapping[str, LogColumn]
    partitioned_by: frozenset[str]
    settings: Settings
    reads: Reads = field(default_factory=Reads)

    def rows(
        self, files: Sequence[LiveFile], names: Sequence[str], kept: Mapping[str, pa.Array]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of some columns of files; `kept` has the live rows by path of files with deleted ones.

        Raises UnreadableFile.
        """
        with ThreadPoolExecutor(_THREADS) as threads:
            for group in _groups(files):
                if len(group) == 1:
                    yield from _read_ahead(self._rows_of(group[0], names, kept), threads)
                    continue
                for batches in threads.map(lambda each: list(self._rows_of(each, names, kept)), group):
                    yield from batches

    def _rows_of(self, live: LiveFile, names: Sequence[str], kept: Mapping[str, pa.Array]) -> Iterator[pa.RecordBatch]:
        place = f"{self.location.rstrip('/')}/{unquote(live.file.path)}"
        wanted = {name: self.columns[name] for name in names if name not in self.partitioned_by}
        keep, first = kept.get(live.file.path), 0
        try:
            path = open_location(place, self.settings)[1]
            split = Split(WHOLE_TABLE, place, path, None, live.file.bytes, settings=self.settings)
            in_file = _names_in_file(split, wanted, self.reads)
            types = {stored: wanted[name].type for name, stored in in_file.items()}
            for batch in parquet_batches(split, types, self.reads):
                rows = self._batch(batch, in_file, live.values, names)
                yield rows if keep is None else _live_rows(rows, keep.slice(first, rows.num_rows))
                first += rows.num_rows
        except (OSError, pa.ArrowException) as error:
            raise UnreadableFile(
                f"table {self.shown} cannot be read as Delta Lake: file {place} cannot be read: {error}"
            ) from error

    def _batch(
        self, batch: pa.RecordBatch, in_file: Mapping[str, str], values: Mapping[str, Any], names: Sequence[str]
    ) -> pa.RecordBatch:
        """The batch of a file with its partition's values, by the columns' names in the metastore."""
        arrays = [
            batch.column(in_file[name]) if name in in_file else self._repeated(name, values.get(name), batch.num_rows)
            for name in names
        ]
        return pa.RecordBatch.from_arrays(arrays, list(names)) if names else batch

    def _repeated(self, name: str, value: Any, rows: int) -> pa.Array:
        return as_column(pa.repeat(value, rows), self.columns[name].type)


def _names_in_file(split: Split, wanted: Mapping[str, LogColumn], reads: Reads) -> dict[str, str]:
    """The names in a file, in lower case, of the wanted columns, by their names in the metastore.

    If columns are found by ids, those that the file lacks are left out; in a file without any ids, names are used.
    """
    names = {name: each.stored_name.lower() for name, each in wanted.items()}
    if all(each.field_id is None for each in wanted.values()):
        return names
    with open_split(split, reads) as file:
        fields = pq.read_schema(file)
    by_id = {int(each.metadata[_FIELD_ID]): each.name for each in fields if _FIELD_ID in (each.metadata or {})}
    if not by_id:
        return names
    return {name: by_id[each.field_id].lower() for name, each in wanted.items() if each.field_id in by_id}


def _live_rows(batch: pa.RecordBatch, keep: pa.Array) -> pa.RecordBatch:
    """The rows that `keep` selects; rows beyond its end are kept."""
    if len(keep) < batch.num_rows:
        keep = pa.concat_arrays([keep, pa.repeat(pa.scalar(True), batch.num_rows - len(keep))])
    if not batch.num_columns:
        return batch.slice(0, keep.true_count)
    return batch.filter(keep)


def _groups(files: Sequence[LiveFile]) -> Iterator[list[LiveFile]]:
    """The files, in groups that are read at once."""
    group: list[LiveFile] = []
    total = 0
    for each in files:
        if group and total + each.file.bytes > _MOST_READ_AHEAD_BYTES:
            yield group
            group, total = [], 0
        group.append(each)
        total += each.file.bytes
    if group:
        yield group


def _read_ahead(batches: Iterator[pa.RecordBatch], threads: ThreadPoolExecutor) -> Iterator[pa.RecordBatch]:
    """The batches; each is read while the one before is being used."""
    coming = threads.submit(next, batches, None)
    while (batch := coming.result()) is not None:
        coming = threads.submit(next, batches, None)
        yield batch
