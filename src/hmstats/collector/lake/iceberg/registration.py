"""Registers theta sketches of a snapshot: writes a Puffin file, and names it in the table's metadata.

The commit changes metadata only: no snapshot is made, and only `statistics` changes. The file is complete before the
metadata names it, and the metadata before the metastore does, so a crash can leave files that are not referenced
(Iceberg's remove_orphan_files removes them), but never a table that names a missing file.
"""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from hmstats.collector.lake.iceberg import table_files as files
from hmstats.collector.lake.iceberg import table_metadata as metadata_of
from hmstats.collector.lake.iceberg.table_metadata import Metadata
from hmstats.errors import InvalidInput, ServiceError
from hmstats.outlets.puffin import file as puffin
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.snapshot import THETA, blobs_of_snapshot, snapshot_file, statistics_entry
from hmstats.sketch.distinct.theta import ThetaSketch

_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Base:
    """The metadata that a commit follows, and the location of their file."""

    metadata: Metadata
    location: str


class Commits(Protocol):
    """Commits statistics entries to one table, whatever its catalog."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep out committers that take the catalog's lock."""

    def newest(self) -> Base | None:
        """The newest metadata; None if there is no such table of Iceberg any more."""

    def commit(self, base: Base, entry: Mapping[str, Any]) -> bool:
        """Register an entry on top of `base`; False, with nothing changed, if another commit came first."""


@dataclass(frozen=True, slots=True)
class SnapshotSketches:
    """New sketches of a snapshot by field id, for the table with this UUID.

    `unwanted` are field ids whose earlier sketches by hmstats are removed.
    """

    table_uuid: str
    snapshot_id: int
    sketches: Mapping[int, ThetaSketch]
    unwanted: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """The outcome: the field ids with distinct counts in the snapshot's entry, and the file's path.

    `reason` is why nothing was registered; `path` is None then.
    """

    fields: tuple[int, ...]
    path: str | None
    reason: str | None = None


def register(commits: Commits, shown: str, io: Any, new: SnapshotSketches) -> Registration:
    """Register sketches for their snapshot in the newest metadata of a table, which errors name as `shown`.

    If another commit comes first, it stays, and the registration is tried again on top of it. Raises ServiceError if
    that happens too often or the table stays locked; CallRefused; OSError and InvalidInput for files that cannot be
    read or written.
    """
    for _ in range(_ATTEMPTS):
        with commits.lock():
            found = _attempt(commits, shown, io, new)
        if found is not None:
            return found
    raise ServiceError(f"table {shown} was committed to {_ATTEMPTS} times meanwhile, and has no new statistics")


def _attempt(commits: Commits, shown: str, io: Any, new: SnapshotSketches) -> Registration | None:
    """Try once; None if another commit came first."""
    base = commits.newest()
    if base is None:
        return Registration((), None, f"table {shown} is no longer one of Iceberg")
    metadata = base.metadata
    of = metadata_of.snapshot_of(metadata, new.snapshot_id)
    if metadata.get("table-uuid", new.table_uuid) != new.table_uuid or of is None:
        return Registration((), None, f"snapshot {new.snapshot_id} is no longer one of table {shown}")
    live = metadata_of.live_fields(metadata)
    made = {field: sketch for field, sketch in new.sketches.items() if field in live}
    blobs = blobs_of_snapshot(made, of, _earlier(io, metadata, new), live)
    stands = metadata_of.entries(metadata).get(new.snapshot_id)
    if not made and _describe_blobs(blobs) == list((stands or {}).get("blob-metadata") or ()):
        path = None if stands is None else str(stands["statistics-path"])
        return Registration(_theta_fields(blobs), path, None if stands else "there is no column to count")
    written = snapshot_file(blobs)
    path = metadata_of.new_statistics_location(metadata, new.snapshot_id)
    files.write_new(io, path, written.data)
    if commits.commit(base, statistics_entry(written, blobs, path, new.snapshot_id)):
        return Registration(_theta_fields(blobs), path)
    files.remove(io, path)
    return None


def _earlier(io: Any, metadata: Metadata, new: SnapshotSketches) -> list[Blob]:
    """The blobs of the nearest earlier file, without our own that are no longer wanted.

    A missing or damaged file counts as empty: its readers cannot use it either.
    """
    entry = metadata_of.nearest_entry(metadata, new.snapshot_id)
    if entry is None:
        return []
    try:
        blobs = puffin.read(files.read_bytes(io, str(entry["statistics-path"]))).blobs
    except (FileNotFoundError, InvalidInput):
        return []
    return [each for each in blobs if not (each.is_ours and set(new.unwanted).intersection(each.fields))]


def _describe_blobs(blobs: Collection[Blob]) -> list[dict[str, Any]]:
    return [each.metadata_entry() for each in blobs]


def _theta_fields(blobs: Collection[Blob]) -> tuple[int, ...]:
    return tuple(sorted(field for each in blobs if each.type == THETA for field in each.fields))
