"""Directories of dropped objects, divided into those to remove and those shared with other objects.

Directories that are shared are neither emptied nor moved.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hmstats.errors import MetaError
from hmstats.model.catalog.location import outermost, parse
from hmstats.model.catalog.objects import Table
from hmstats.store.storage import drop_locations
from hmstats.store.unit.unit import Unit


class Directories(NamedTuple):
    """Locations of a drop: `own` are removed with it, `shared` are not since another object lies in or around them."""

    own: list[str]
    shared: list[str]


def divide(unit: Unit, locations: Sequence[str]) -> Directories:
    """Divide the locations of objects that this transaction has dropped."""
    shared = drop_locations.used_by_others(unit.connection, locations)
    return Directories([each for each in locations if each not in shared], sorted(shared))


def divide_of_partitions(unit: Unit, table: Table, locations: Sequence[str]) -> Directories:
    """Divide the locations of partitions that this transaction has dropped from a table.

    Checks the table's own location first if most of them lie in it: if no other object is there, all are free.
    """
    outermost_locations = (
        without_inner([table.storage.location, *locations]) if table.storage and table.storage.location else []
    )
    if 0 < len(outermost_locations) < len(locations) and not drop_locations.used_by_others(
        unit.connection, outermost_locations, table.id
    ):
        return Directories(list(locations), [])
    shared = drop_locations.used_by_others(unit.connection, locations, table.id)
    return Directories([each for each in locations if each not in shared], sorted(shared))


def check_unshared(unit: Unit, change: str, locations: Sequence[str], table_id: int) -> None:
    """Raise MetaError, which begins with the `change`, if another object lies in or around one of the locations.

    The table and its partitions are no other objects.
    """
    shared = drop_locations.used_by_others(unit.connection, locations, table_id)
    if shared:
        raise MetaError(f"{change}: another object lies in or around {min(shared)}")


def without_inner(locations: Sequence[str]) -> list[str]:
    """The locations without duplicates and without those that lie in another of them."""
    by_location = {parse(each): each for each in reversed(locations)}
    return [by_location[each] for each in outermost(by_location)]
