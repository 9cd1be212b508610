"""Plans listings of an object store for tables with very many partitions.

A store lists all files below a prefix a thousand at a time, across directories. For 100,000 partitions of one file
each, these are 100 requests instead of 100,000. A few locations are listed one by one in parallel, which is faster than
one listing whose pages must be read one after the other.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hmstats.model.catalog.location import Location, parse

MOST_ALONE = 1_024
"""The most locations of one bucket that are listed one by one."""
_PAGED_SCHEMES = frozenset({"s3", "gs", "abfs", "abfss"})
"""Schemes of stores that list all files below a prefix at once."""


@dataclass(frozen=True, slots=True)
class SharedListing:
    """A directory that is listed recursively, and the path of each requested location in it."""

    directory: str
    places: Mapping[str, str]


def shared_listings(locations: Iterable[str]) -> list[SharedListing]:
    """The shared listings for these locations; none for a bucket with few locations."""
    buckets: dict[tuple[str, str], dict[str, Location]] = defaultdict(dict)
    for text in locations:
        location = parse(text)
        if location.scheme in _PAGED_SCHEMES:
            buckets[location.scheme, location.authority][text] = location
    return [each for places in buckets.values() for each in _of_bucket(places)]


def _of_bucket(places: Mapping[str, Location]) -> list[SharedListing]:
    """The listings of one bucket: the deepest common parent directories that are few enough."""
    tops = {text: location for text, location in places.items() if not location.is_root}
    if len(set(tops.values())) <= MOST_ALONE:
        return []
    while len(set(tops.values())) > MOST_ALONE:
        tops = {text: location.parent for text, location in tops.items()}
    inside: dict[Location, dict[str, str]] = defaultdict(dict)
    for text, top in tops.items():
        inside[top][text] = places[text].path
    return [SharedListing(str(top), found) for top, found in inside.items() if not top.is_root]
