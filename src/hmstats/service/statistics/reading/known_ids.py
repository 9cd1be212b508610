"""Ids of partitions by name in memory, for questions about many partitions of a table.

The names of a table are read once, as of a version. They hold for every partition that was not touched since, by which
renamed, new and dropped ones are meant too.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading.block_kind import clean_ids
from hmstats.store.partitions import blocks, partitions
from hmstats.store.partitions.blocks import Ids
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Connection

_NAME_BYTES = 200
"""Memory of a name and its id beside the characters."""
_MOST_OF_EACH = 8
"""Partitions of a table for each that is asked for, up to which all names are read at once."""


class AskedIds(NamedTuple):
    """The ids of the partitions that a question asks for, and of those among them that were not touched."""

    asked: Ids
    clean: Ids


class Since(NamedTuple):
    """The partitions that were touched between two versions of a table."""

    as_of: int
    version: int
    touched: Collection[str]


class _Names(NamedTuple):
    """The ids of a table's partitions by name, as of a version."""

    version: int
    ids: Mapping[str, int]


def find(connection: Connection, scope: Scope, since: Since, partitions_then: int, memory: BoundedMemory) -> AskedIds:
    """The ids of the scope's partitions in a table that has the version of `since`; names of none are skipped.

    `partitions_then` is about how many partitions the table has.
    """
    names, known = scope.partitions, _ids_by_name(connection, scope, since, partitions_then, memory)
    if names is None or known is None:
        asked = blocks.partition_ids(connection, scope.table_id, names)
        return AskedIds(asked, clean_ids(connection, scope.table_id, asked, since.touched))
    touched = [each for each in names if each in since.touched]
    there = map(known.get, set(names).difference(touched))
    clean: Ids = np.sort(np.array([each for each in there if each is not None], np.int64))
    if not touched:
        return AskedIds(clean, clean)
    return AskedIds(np.union1d(clean, blocks.partition_ids(connection, scope.table_id, touched)), clean)


def _ids_by_name(
    connection: Connection, scope: Scope, since: Since, partitions_then: int, memory: BoundedMemory
) -> Mapping[str, int] | None:
    """The ids by name, which hold for partitions that were not touched; None if the names are not kept."""
    cleared, known = memory.cleared, memory.get(scope.table_id)
    if known is not None and since.as_of <= known.version <= since.version:
        ids: Mapping[str, int] = known.ids
        return ids
    if partitions_then > min(_MOST_OF_EACH * len(scope.partitions or ()), memory.most_bytes // 2 // _NAME_BYTES):
        return None
    ids = partitions.ids_by_name(connection, scope.table_id)
    memory.put(scope.table_id, _Names(since.version, ids), _NAME_BYTES * len(ids) + sum(map(len, ids)), cleared)
    return ids
