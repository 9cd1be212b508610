"""A table's metadata file as JSON: the parts that statistics need, and the next file with another statistics entry.

JSON is kept, so that unknown keys and blob types are preserved. Source: Iceberg's table specification ("Table Metadata
Fields", "Table statistics").
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from hmstats.outlets.puffin.snapshot import Snapshot

Metadata = Mapping[str, Any]
"""The JSON object of a metadata file."""
_VERSION = re.compile(r"v?(\d+)(?:-|\.)")
_MOST_LOGGED = "write.metadata.previous-versions-max"
_LOGGED_BY_DEFAULT = 100


def current_snapshot_id(metadata: Metadata) -> int | None:
    """The id of the current snapshot; None if the table has none."""
    found = metadata.get("current-snapshot-id")
    return None if found is None or found == -1 else int(found)


def snapshots(metadata: Metadata) -> dict[int, Mapping[str, Any]]:
    """The snapshots by id."""
    return {int(each["snapshot-id"]): each for each in metadata.get("snapshots") or ()}


def snapshot_of(metadata: Metadata, snapshot_id: int) -> Snapshot | None:
    """A snapshot's ids; None if it has expired. Tables of version 1 have no sequence numbers."""
    found = snapshots(metadata).get(snapshot_id)
    return None if found is None else Snapshot(snapshot_id, int(found.get("sequence-number") or 0))


def lineage(metadata: Metadata, snapshot_id: int) -> Iterator[Mapping[str, Any]]:
    """A snapshot and its ancestors, the newest first, as far as they have not expired."""
    known = snapshots(metadata)
    found = known.pop(snapshot_id, None)
    while found is not None:
        yield found
        parent = found.get("parent-snapshot-id")
        found = None if parent is None else known.pop(int(parent), None)


def count_commits(metadata: Metadata, snapshot_id: int) -> int:
    """The number of commits that led to a snapshot, including its own; in v1 less if ancestors have expired."""
    steps = list(lineage(metadata, snapshot_id))
    if not steps:
        return 0
    expired = steps[-1].get("parent-snapshot-id") is not None
    return max(len(steps) + expired, int(steps[0].get("sequence-number") or 0))


def entries(metadata: Metadata) -> dict[int, Mapping[str, Any]]:
    """The statistics entries by the snapshot that they are registered for; of two for one snapshot, the last."""
    return {int(each["snapshot-id"]): each for each in metadata.get("statistics") or ()}


def nearest_entry(metadata: Metadata, snapshot_id: int) -> Mapping[str, Any] | None:
    """The statistics entry of a snapshot, or of its nearest ancestor that has one."""
    known = entries(metadata)
    found = (known.get(int(each["snapshot-id"])) for each in lineage(metadata, snapshot_id))
    return next((each for each in found if each is not None), None)


def schema(metadata: Metadata) -> Mapping[str, Any]:
    """The current schema; in version 1 it may stand alone, without a list of schemas."""
    found = _schema_of_id(metadata, metadata.get("current-schema-id"))
    return found if found is not None else metadata.get("schema") or {}


def types_now(metadata: Metadata) -> dict[int, Any]:
    """The types of the current columns by field id."""
    return _types(schema(metadata))


def types_then(metadata: Metadata, snapshot_id: int) -> dict[int, Any]:
    """The types of the columns by field id at the time of a snapshot; empty if its schema is not known."""
    snapshot = snapshots(metadata).get(snapshot_id, {})
    return _types(_schema_of_id(metadata, snapshot.get("schema-id")) or {})


def _types(found: Mapping[str, Any]) -> dict[int, Any]:
    return {int(each["id"]): each["type"] for each in found.get("fields") or ()}


def _schema_of_id(metadata: Metadata, schema_id: Any) -> Mapping[str, Any] | None:
    listed = metadata.get("schemas") or ()
    return next((each for each in listed if each.get("schema-id") == schema_id), None)


def live_fields(metadata: Metadata) -> set[int]:
    """The ids of all fields of the current schema, including nested ones."""
    return set(_ids(schema(metadata)))


def _ids(node: Any) -> Iterator[int]:
    if not isinstance(node, Mapping):
        return
    for name in ("id", "element-id", "key-id", "value-id"):
        if name in node:
            yield int(node[name])
    for name in ("type", "element", "key", "value"):
        yield from _ids(node.get(name))
    for field in node.get("fields") or ():
        yield from _ids(field)


def with_entry(metadata: Metadata, entry: Mapping[str, Any], location: str, now_ms: int) -> dict[str, Any]:
    """The next metadata after those in the file at `location`, where an entry replaces any other of the same snapshot.

    Entries of expired snapshots are removed: not every engine removes them together with the snapshot.
    """
    known = snapshots(metadata).keys() - {int(entry["snapshot-id"])}
    others = [each for each in metadata.get("statistics") or () if int(each["snapshot-id"]) in known]
    written_ms = int(metadata["last-updated-ms"])
    log = [*(metadata.get("metadata-log") or ()), {"timestamp-ms": written_ms, "metadata-file": location}]
    return {
        **metadata,
        "last-updated-ms": max(now_ms, written_ms),
        "statistics": [*others, dict(entry)],
        "metadata-log": log[-_most_logged(metadata) :],
    }


def folder(metadata: Metadata) -> str:
    """The location of the table's metadata files."""
    given = _properties(metadata).get("write.metadata.path")
    return (given or f"{metadata['location'].rstrip('/')}/metadata").rstrip("/")


def next_location(metadata: Metadata, location: str) -> str:
    """A new name for the metadata file that follows the one at `location`."""
    found = _VERSION.match(location.rpartition("/")[2])
    number = int(found[1]) + 1 if found else 0
    packed = _properties(metadata).get("write.metadata.compression-codec", "none").lower() == "gzip"
    return f"{folder(metadata)}/{number:05d}-{uuid4()}{'.gz' if packed else ''}.metadata.json"


def new_statistics_location(metadata: Metadata, snapshot_id: int) -> str:
    """A new name for a Puffin file of a snapshot, as Iceberg's own writer names it."""
    return f"{folder(metadata)}/{snapshot_id}-{uuid4()}.stats"


def encode(metadata: Metadata) -> bytes:
    """The bytes of a metadata file, not compressed."""
    return json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()


def _properties(metadata: Metadata) -> Mapping[str, str]:
    return metadata.get("properties") or {}


def _most_logged(metadata: Metadata) -> int:
    given = str(_properties(metadata).get(_MOST_LOGGED, ""))
    return max(1, int(given)) if given.isdecimal() else _LOGGED_BY_DEFAULT
