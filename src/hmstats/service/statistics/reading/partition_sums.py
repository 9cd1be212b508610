"""Sums of partitions' rows, files and bytes, by table, cached until the table's version changes.

If some partitions of a table have changed since, only their blocks are summed again: under steady writes to a table
of 100,000 partitions, every answer would otherwise sum all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_sizes, partitions
from hmstats.store.partitions.partition_sizes import Block
from hmstats.store.unit.unit import Connection

_MOST_CACHED = 10_000
_MOST_BLOCKS = 2_000
"""Most blocks of a cached table; one with more is summed as a whole, since its ids are too far apart."""


@dataclass(frozen=True, slots=True)
class _Cached:
    """The sums of a table's partitions at a version, and those of its blocks; None if there are too many blocks."""

    version: int
    sizes: Mapping[str, int]
    blocks: Mapping[int, Block] | None


class PartitionSums:
    """Reads and caches the sums of tables' partitions. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: dict[int, _Cached] = {}
        store.on_older_database(self._cached.clear)

    def read(self, table_ids: Sequence[int]) -> dict[int, Mapping[str, int]]:
        """By table id, the sum of each size that every one of its partitions states."""
        if self._store.is_trying:
            with self._store.read() as connection:
                return dict(partition_sizes.of_tables(connection, table_ids))
        if len(table_ids) == 1 and (of_one := self._read_one(table_ids[0])) is not None:
            return {table_ids[0]: of_one}
        with self._store.read() as connection:
            current = versions.read_many(connection, table_ids)
            if self._store.shape.beside_hive:  # a Hive changes tables without a version
                current.clear()
            cached = {each: found for each in table_ids if (found := self._cached.get(each))}
            fresh = {each: found for each, found in cached.items() if found.version == current.get(each)}
            stale = [each for each in table_ids if each not in fresh]
            if len(stale) == 1 and stale[0] in current:
                fresh[stale[0]] = self._sum(connection, stale[0], current[stale[0]], cached.get(stale[0]))
            elif stale:
                sums = partition_sizes.of_tables(connection, stale)
                fresh |= {each: _Cached(current.get(each, 0), sums.get(each, {}), None) for each in stale}
        for each in stale:
            self._put_in_cache(each, fresh[each])
        return {table_id: found.sizes for table_id, found in fresh.items()}

    def _read_one(self, table_id: int) -> Mapping[str, int] | None:
        """The sums of one table's partitions, read without a transaction; None if it takes one."""
        if self._store.shape.beside_hive:
            return None
        cached = self._cached.get(table_id)
        changes = self._store.changes_since(table_id, cached.version) if cached else None
        touched = changes.partitions(cached.version, changes.version) if cached and changes else None
        if cached and changes and touched is not None and not touched:
            self._put_in_cache(table_id, replace(cached, version=changes.version))
            return cached.sizes
        if cached and cached.blocks and touched:
            return None  # some blocks are summed again, not all
        found = self._store.partition_blocks(table_id)
        if found is None:
            return None
        sums = _sums(found.version, found.blocks)
        self._put_in_cache(table_id, sums)
        return sums.sizes

    def _sum(self, connection: Connection, table_id: int, version: int, cached: _Cached | None) -> _Cached:
        """The current sums of a table's partitions; sums only the changed blocks if they are known."""
        changed = self._changed_blocks(connection, table_id, version, cached)
        if changed is None or cached is None or cached.blocks is None:
            return _sums(version, partition_sizes.blocks(connection, table_id))
        blocks = {**cached.blocks, **partition_sizes.blocks(connection, table_id, changed)}
        added = _partitions(blocks) - _partitions(cached.blocks)
        # One that was dropped and added again has another id, and is still counted in the block of the old one.
        if added and _partitions(blocks) != partitions.count(connection, table_id):
            blocks = partition_sizes.blocks(connection, table_id)
        return _sums(version, blocks)

    def _changed_blocks(
        self, connection: Connection, table_id: int, version: int, cached: _Cached | None
    ) -> set[int] | None:
        """The blocks of the partitions that changed since; None if unknown, or if some were dropped."""
        if cached is None or cached.blocks is None or cached.version >= version:
            return None
        changes_since = self._store.changes_since(table_id, cached.version)
        names = None if changes_since is None else changes_since.partitions(cached.version, version)
        if names is None:
            return None
        blocks = partition_sizes.blocks_of(connection, table_id, names)
        return {*blocks.values()} if len(blocks) == len(names) else None

    def _put_in_cache(self, table_id: int, sums: _Cached) -> None:
        """Cache the sums, unless the table has no version that tells when they are stale."""
        if not sums.version:
            return
        if len(self._cached) >= _MOST_CACHED:
            self._cached.clear()
        self._cached[table_id] = sums


def _partitions(blocks: Mapping[int, Block]) -> int:
    return sum(block.partitions for block in blocks.values())


def _sums(version: int, blocks: Mapping[int, Block]) -> _Cached:
    return _Cached(version, partition_sizes.total(blocks.values()), blocks if len(blocks) <= _MOST_BLOCKS else None)
