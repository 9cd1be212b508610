"""Whether an alter changes nothing but statistics, which the right to write statistics allows."""

from dataclasses import replace
from typing import TypeVar

from hmstats.model.catalog.location import is_same_location
from hmstats.model.catalog.objects import Partition, SkewedInfo, Storage, Table
from hmstats.model.parameters.computed import without_marker
from hmstats.model.parameters.statistics_keys import without_statistics

Altered = TypeVar("Altered", Table, Partition)


def differ_in_statistics_only(stored: Altered, altered: Altered) -> bool:
    """Whether a table or partition differs from the stored one in parameters of statistics only.

    What a client cannot set is not compared: ids and times.
    """
    old, new = stored.storage, altered.storage
    if (old is None) != (new is None):
        return False
    if old is not None and new is not None and not _same_storage(old, new):
        return False
    return replace(_bare(stored), parameters=without_statistics(stored.parameters)) == replace(
        _bare(altered), parameters=without_statistics(altered.parameters)
    )


def _bare(each: Altered) -> Altered:
    return replace(each, id=None, created_seconds=0, last_access_seconds=0, write_id=0, storage=None)


def _same_storage(old: Storage, new: Storage) -> bool:
    if old.location != new.location and not is_same_location(old.location, new.location):
        return False
    return _plain(old) == _plain(new)


def _plain(storage: Storage) -> Storage:
    """The storage without its location; what is empty and what is unset are the same."""
    columns = tuple(replace(each, comment=each.comment or None) for each in storage.columns)
    parameters = without_marker(storage.parameters)
    skewed = storage.skewed or SkewedInfo()
    return replace(storage, columns=columns, location=None, parameters=parameters, skewed=skewed)
