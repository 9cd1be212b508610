"""Finds earlier snapshots of an Iceberg table to which rows were only added since, by the snapshots' summaries.

Appends add rows; compactions (the operation replace) change none. If rows were deleted or overwritten since, the table
is read as a whole: the removed rows are not known without reading them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hmstats.collector.lake.iceberg import table_files as files
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.source import pyiceberg_errors
from hmstats.collector.lake.opened import AddedFiles, EarlierVersion, SketchedColumn
from hmstats.collector.planning.data_files import DataFile
from hmstats.errors import InvalidInput, SketchError
from hmstats.outlets.puffin import file as puffin
from hmstats.outlets.puffin.snapshot import THETA
from hmstats.sketch.distinct.theta import ThetaSketch

_APPEND, _REPLACE = "append", "replace"
_CHANGES = ("added-delete-files", "added-position-deletes", "added-equality-deletes", "added-dvs", "deleted-records")
"""Counts in a summary that are not 0 if an append or an overwrite removed rows."""
Read = Callable[[Sequence[Any], Sequence[str]], Iterator[pa.RecordBatch]]
"""Reads rows of PyIceberg's tasks, with some columns."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A snapshot in a table's metadata as JSON; `opened` is PyIceberg's table, `fields` are its columns by name."""

    metadata: Mapping[str, Any]
    opened: Any
    snapshot_id: int
    fields: Mapping[str, SketchedColumn]
    read: Read

    def earlier(self) -> Iterator[EarlierVersion]:
        """The snapshot's ancestors to which rows were only added since, the newest first."""
        steps = metadata_of.lineage(self.metadata, self.snapshot_id)
        for step in steps:
            if not only_adds(step.get("summary") or {}):
                return
            parent = step.get("parent-snapshot-id")
            if parent is None or metadata_of.snapshot_of(self.metadata, int(parent)) is None:
                return
            yield self._version(int(parent))

    def _version(self, earlier_id: int) -> EarlierVersion:
        return EarlierVersion(
            version_of(earlier_id),
            identity_of(self.metadata, earlier_id),
            lambda columns: self._read_added(earlier_id, columns),
        )

    def _read_added(self, earlier_id: int, columns: Collection[str]) -> AddedFiles | None:
        """The rows added since; None if a column lacks a sketch of the earlier snapshot, or if a manifest is gone."""
        sketches = self._sketches(earlier_id, columns)
        if sketches is None:
            return None
        scan = self.opened.incremental_append_scan(
            from_snapshot_id_exclusive=earlier_id, to_snapshot_id_inclusive=self.snapshot_id
        )
        try:
            tasks = list(scan.plan_files())
        except pyiceberg_errors():
            return None
        listed = [DataFile(each.file.file_path, each.file.file_size_in_bytes) for each in tasks]
        return AddedFiles(listed, lambda names: self.read(tasks, names), sketches)

    def _sketches(self, snapshot_id: int, columns: Collection[str]) -> dict[str, ThetaSketch] | None:
        if not columns:
            return {}
        entry = metadata_of.entries(self.metadata).get(snapshot_id)
        if entry is None or not self._have_types_of(snapshot_id, columns):
            return None
        try:
            blobs = puffin.read(files.read_bytes(self.opened.io, str(entry["statistics-path"]))).blobs
            found = {
                each.fields[0]: ThetaSketch.from_bytes(each.content())
                for each in blobs
                if each.type == THETA and len(each.fields) == 1 and each.snapshot_id == snapshot_id
            }
        except (OSError, InvalidInput, SketchError):
            return None
        made = {name: found.get(self.fields[name].field_id) for name in columns}
        whole = {name: sketch for name, sketch in made.items() if sketch is not None}
        return whole if len(whole) == len(made) else None

    def _have_types_of(self, snapshot_id: int, columns: Collection[str]) -> bool:
        """Whether columns still have the types of a snapshot: sketches hash an int and an equal long differently."""
        then, now = metadata_of.types_then(self.metadata, snapshot_id), metadata_of.types_now(self.metadata)
        fields = [self.fields[name].field_id for name in columns]
        return all(field in then and then[field] == now.get(field) for field in fields)


def only_adds(summary: Mapping[str, str]) -> bool:
    """Whether a snapshot with this summary has all rows of its parent."""
    operation = summary.get("operation")
    if operation == _REPLACE:
        return True
    return operation == _APPEND and all(summary.get(name, "0") == "0" for name in _CHANGES)


def version_of(snapshot_id: int | None) -> str:
    """A snapshot's name in provenance."""
    return f"Iceberg snapshot {'none' if snapshot_id is None else snapshot_id}"


def identity_of(metadata: Mapping[str, Any], snapshot_id: int | None) -> str:
    """A text that differs for every snapshot of any table, and changes if a column's name belongs to another field."""
    fields = " ".join(f"{each['id']}={each['name']}" for each in metadata_of.schema(metadata).get("fields") or ())
    return f"iceberg {metadata.get('table-uuid')} {snapshot_id or 0} {fields}"
