"""Finds the partitions whose directories have changed since a given time, by the directories' modification times.

Only directories are listed for that, each parent once. Directories in object stores have no times: there every
partition may have changed.
"""

from collections.abc import Iterable, Mapping, Sequence

from pyarrow import fs

from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan
from hmstats.files.file_systems import Settings, open_location
from hmstats.model.catalog.location import LOCAL, Location, parse

_LOCAL_NS, _REMOTE_NS = 50_000_000, 5_000_000_000


def clocks_ns(place: Location) -> int:
    """The largest difference, in nanoseconds, between the clocks of a file system and of the driver."""
    return _LOCAL_NS if place.scheme == LOCAL else _REMOTE_NS


def touched_pieces(plan: Plan, since_ns: int, partitions: Sequence[dict[str, str]]) -> set[str]:
    """The names of the pieces that writes, each limited to its own partition values, may have touched since a time."""
    if not plan.keys:
        return {each.name for each in plan.pieces}
    among = [each for each in plan.pieces if any(_has(plan, each, values) for values in partitions)]
    if all(values.keys() >= set(plan.keys) for values in partitions):
        return {each.name for each in among}
    times = _changes({parse(each.location).parent for each in among}, plan.settings)
    return {each.name for each in among if _may_have_changed(times, parse(each.location), since_ns)}


def _has(plan: Plan, piece: Piece, values: dict[str, str]) -> bool:
    own = dict(zip(plan.keys, piece.values, strict=True))
    return all(own.get(key, text) == text for key, text in values.items())


def _may_have_changed(times: Mapping[Location, int | None], place: Location, since_ns: int) -> bool:
    changed_ns = times.get(place)
    return changed_ns is None or changed_ns >= since_ns - clocks_ns(place)


def _changes(parents: Iterable[Location], settings: Settings) -> dict[Location, int | None]:
    """The last change of each of these directories; those whose parent cannot be listed are left out."""
    found: dict[Location, int | None] = {}
    for parent in parents:
        files, path = open_location(str(parent), settings)
        try:
            entries = files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        except OSError:
            continue
        base = parent.path.rstrip("/")
        for each in entries:
            place = Location(parent.scheme, parent.authority, f"{base}/{each.base_name}")
            found[place] = each.mtime_ns if each.type is fs.FileType.Directory else None
    return found
