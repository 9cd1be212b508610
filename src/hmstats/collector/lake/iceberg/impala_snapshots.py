"""The parameter that names the snapshot of the metastore's statistics for each column of an Iceberg table.

`1-3:SNAPSHOT,5:SNAPSHOT`: field ids, or ranges of them. Impala reads and writes it, and prefers the metastore's
distinct counts to those of older Puffin files (source: its IcebergUtil, and IcebergTable).
"""

import re
from collections.abc import Collection, Iterator
from itertools import groupby

PARAMETER = "impala.computeStatsSnapshotIds"
_PART = re.compile(r"(\d+)(?:-(\d+))?:(\d+)")
_WIDEST = 10_000
"""The most field ids of one range: a longer one is not written by any engine, and would be slow to expand."""


def snapshots_of(text: str) -> dict[int, int]:
    """The snapshot by field id; parts of any other form are skipped."""
    found: dict[int, int] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            continue
        first, last, snapshot = int(match[1]), int(match[2] or match[1]), int(match[3])
        if last - first < _WIDEST:
            found |= dict.fromkeys(range(first, last + 1), snapshot)
    return found


def with_snapshot(text: str, fields: Collection[int], snapshot_id: int) -> str:
    """The text after these fields' statistics have become those of another snapshot."""
    found = {**snapshots_of(text), **dict.fromkeys(fields, snapshot_id)}
    return ",".join(_parts(found))


def _parts(found: dict[int, int]) -> Iterator[str]:
    ordered = sorted(found.items())
    for (snapshot, _), run in groupby(enumerate(ordered), key=lambda each: (each[1][1], each[1][0] - each[0])):
        ids = [field for _, (field, _) in run]
        yield f"{ids[0]}:{snapshot}" if len(ids) == 1 else f"{ids[0]}-{ids[-1]}:{snapshot}"
