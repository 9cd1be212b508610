"""The Puffin file of a snapshot: new theta sketches, and the blobs of other engines and earlier files that stay.

Blobs of dropped columns and two of one column make engines fail, so neither is ever in a file (Spark fails in planning
a join, Trino in every query).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.outlets.puffin.blob import CREATED_BY, OURS, Blob, compress
from hmstats.outlets.puffin.file import PuffinBytes, PuffinFile, write
from hmstats.sketch.distinct.theta import ThetaSketch
from hmstats.version import __version__

THETA = "apache-datasketches-theta-v1"
NDV = "ndv"
_CREATED_BY = {CREATED_BY: f"{OURS}{__version__}"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of a table, by its ids."""

    snapshot_id: int
    sequence_number: int


def theta_blob(field_id: int, sketch: ThetaSketch, of: Snapshot) -> Blob:
    """The blob of a column's sketch; readers take its `ndv` property."""
    stored = compress(sketch.to_bytes())
    properties = {NDV: str(sketch.ndv), **_CREATED_BY}
    return Blob(THETA, (field_id,), of.snapshot_id, of.sequence_number, stored, "zstd", properties)


def blobs_of_snapshot(
    sketches: Mapping[int, ThetaSketch], of: Snapshot, earlier: Iterable[Blob], live: set[int]
) -> tuple[Blob, ...]:
    """The blobs of a snapshot's file: of these sketches, by field id, and those of an earlier file that stay.

    `live` are the field ids of the table's columns: blobs of others are left out.
    """
    made = [theta_blob(field_id, sketches[field_id], of) for field_id in sorted(sketches)]
    return (*made, *remaining_blobs(earlier, live, replaced=set(sketches)))


def snapshot_file(blobs: tuple[Blob, ...]) -> PuffinBytes:
    """The file of a snapshot with these blobs."""
    return write(PuffinFile(blobs, _CREATED_BY))


def remaining_blobs(earlier: Iterable[Blob], live: set[int], *, replaced: set[int]) -> list[Blob]:
    """The earlier blobs that stay: of columns that exist, and of theta sketches the first of each column."""
    found: list[Blob] = []
    taken = set(replaced)
    for blob in earlier:
        if not live.issuperset(blob.fields):
            continue
        if blob.type == THETA:
            if taken.intersection(blob.fields):
                continue
            taken.update(blob.fields)
        found.append(blob)
    return found


def statistics_entry(written: PuffinBytes, blobs: Iterable[Blob], path: str, snapshot_id: int) -> dict[str, Any]:
    """The entry of a file in `statistics` of a table's metadata, as JSON has it; `path` is absolute."""
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": path,
        "file-size-in-bytes": len(written.data),
        "file-footer-size-in-bytes": written.footer_bytes,
        "blob-metadata": [blob.metadata_entry() for blob in blobs],
    }


def ndvs(entry: Mapping[str, Any]) -> dict[int, int]:
    """The distinct counts that an entry of a table's metadata has, by field id; others than numbers are left out."""
    found: dict[int, int] = {}
    for blob in entry.get("blob-metadata") or ():
        fields: list[int] = blob.get("fields") or []
        ndv = str((blob.get("properties") or {}).get(NDV))
        if blob.get("type") == THETA and len(fields) == 1 and ndv.isdecimal():
            found.setdefault(fields[0], int(ndv))
    return found
