"""A cache of encoded answers: a repeated request costs one version check.

The key is a method's name and the bytes of its arguments. An answer is valid as long as each table that it was made
from has the same version (versions.py), or if only partitions have changed that it was not made from
(touched_partitions.py). Versions are read for each request, after it has arrived. So a read that begins after a write
was answered, on any server over the database, sees the write.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from hmstats.server.messages.request import CacheKey
from hmstats.store.changes.versions import NotedRead, noting_reads
from hmstats.wire.messages.envelope import Head

Versions = Mapping[int, int]
Between = Callable[[int, int, int], frozenset[str] | None]
"""Names the only partitions of a table (its id) that changed between two versions; None if anything may have
changed."""

_CACHED_CALLS = frozenset(
    {
        "get_table_column_statistics",
        "get_partition_column_statistics",
        "get_table_statistics_req",
        "get_partitions_statistics_req",
        "get_aggr_stats_for",
        "get_distinct_count",
        "get_quantiles",
        "get_top_k",
        "get_merged_statistics",
        "get_provenance",
        "get_statistics",
        "get_arrow_statistics",
        "get_table",
        "get_table_req",
        "get_partition",
        "get_partition_by_name",
        "get_partition_req",
        "get_partitions",
        "get_partitions_req",
        "get_partitions_by_names",
        "get_partitions_by_names_req",
        "get_partitions_by_filter",
        "get_partitions_by_filter_req",
        "get_partitions_ps",
        "get_num_partitions_by_filter",
        "get_partition_names",
        "get_partition_names_ps",
        "fetch_partition_names_req",
    }
)
"""Calls whose answers depend only on their arguments and the tables that they note, not on the caller."""

_SPARK_SEES_OTHERS = frozenset({"get_table", "get_table_req"})
"""Calls that answer Spark differently: it may see its own parameters."""

_ENTRY_BYTES = 900
"""Memory of an entry beside the bytes of the answer and of the arguments."""
_NAME_BYTES = 150
"""Memory of one name of a partition that an answer was made from."""


_LONG_BYTES = 64 * 1024
"""A request with so many bytes of arguments comes in parts: it is known by its first bytes."""
_BEGIN_BYTES = 1024
"""How many first bytes tell long requests apart."""


class CachedAnswer(NamedTuple):
    """A cached answer, and the versions of the tables that it was made from."""

    versions: Versions
    partitions: Mapping[int, frozenset[str] | None]
    """Table id to the names of the partitions that the answer was made from; None stands for every partition."""
    result: bytes
    needs: Sequence[Any] | None = None
    """The rights that a caller needs for the answer, as access/ found them in the arguments; None without rules."""

    def is_valid_at(self, versions: Versions) -> bool:
        """Whether these are the versions of all tables that the answer was made from."""
        return self.versions.items() <= versions.items()


class PutResult(Protocol):
    """Caches a result, with what a caller must be allowed to do."""

    def __call__(self, result: bytes, needs: Sequence[Any] | None = None) -> None:
        """Cache the result."""


class AnswerCache:
    """An LRU cache of answers, of at most `max_bytes` together; thread-safe.

    `current` reads the current versions of tables by id; a table without one is left out. `between` names the
    partitions that changed between two versions; without it any change of a table makes its answers stale.
    """

    def __init__(
        self, current: Callable[[Collection[int]], Versions], max_bytes: int, between: Between | None = None
    ) -> None:
        self._current = current
        self._between = between or (lambda *_: None)
        self._free_bytes = self._max_bytes = max_bytes
        self._cached: OrderedDict[CacheKey, CachedAnswer] = OrderedDict()
        self._long: dict[CacheKey, set[bytes]] = {}
        """The arguments of long requests, by method and their first bytes."""
        self._clears = 0
        """How often the cache was cleared: an answer that was read before a clear is not cached after it."""
        self._lock = threading.Lock()

    def key(
        self, name: str, message: bytes, body_at: int, *, of_spark: bool = False, of_canary: bool = False
    ) -> CacheKey | None:
        """The cache key of a request; None if the answers of its method are not cached.

        `name` is the method's, `body_at` the byte at which the arguments begin, `of_spark` whether the caller is Spark,
        `of_canary` whether it sees pending statistics: no answer to a canary is one to anybody else.
        """
        if not self._max_bytes or name not in _CACHED_CALLS:
            return None
        if of_spark and name in _SPARK_SEES_OTHERS:
            name = f"{name} of Spark"
        if of_canary:
            name = f"{name} of a canary"
        return name, message[body_at:]

    def find_valid(self, key: CacheKey, usable: Callable[[CachedAnswer], bool] | None = None) -> bytes | None:
        """The cached result, if it is `usable` and still valid; reads the current versions."""
        cached = self.find(key)
        if cached is None or (usable is not None and not usable(cached)):
            return None
        versions = self._current(cached.versions.keys())
        if cached.is_valid_at(versions):
            return cached.result
        if not self._is_untouched(cached, versions):
            return None
        with self._lock:
            self._replace(key, cached, cached._replace(versions=versions))
        return cached.result

    def has(self, head: Head, data: bytearray) -> bool:
        """Whether the bytes are a whole request whose answer is cached."""
        if head.name not in _CACHED_CALLS:  # do not copy a large write for nothing
            return False
        if len(data) - head.body_at >= _LONG_BYTES:
            return any(len(each) == len(data) - head.body_at for each in self._long_beginning(head, data))
        return (head.name, bytes(data[head.body_at :])) in self._cached

    def has_longer(self, head: Head, data: bytearray) -> bool:
        """Whether the bytes, if these are many, are the beginning of a longer request whose answer is cached."""
        if head.name not in _CACHED_CALLS or len(data) - head.body_at < _BEGIN_BYTES:
            return False
        return any(len(each) > len(data) - head.body_at for each in self._long_beginning(head, data))

    def _long_beginning(self, head: Head, data: bytearray) -> list[bytes]:
        """The arguments of long requests with cached answers that begin as the bytes do."""
        with memoryview(data) as whole, whole[head.body_at :] as body:
            with self._lock:
                alike = list(self._long.get((head.name, bytes(body[:_BEGIN_BYTES])), ()))
            return [each for each in alike if each.startswith(body)]

    def find(self, key: CacheKey) -> CachedAnswer | None:
        """The cached answer, which may be stale; versions are not checked."""
        with self._lock:
            if cached := self._cached.get(key):
                self._cached.move_to_end(key)
            return cached

    def _is_untouched(self, cached: CachedAnswer, versions: Versions) -> bool:
        """Whether only partitions have changed that the answer was not made from."""
        if versions.keys() != cached.versions.keys():
            return False
        for table_id, read in cached.partitions.items():
            if versions[table_id] == cached.versions[table_id]:
                continue
            changed = None if read is None else self._between(table_id, cached.versions[table_id], versions[table_id])
            if read is None or changed is None or not changed.isdisjoint(read):
                return False
        return True

    @contextmanager
    def caching(self, key: CacheKey | None) -> Iterator[PutResult]:
        """Record the tables that are read inside; the yielded function caches a result with their versions."""
        if key is None:
            yield lambda _result, _needs=None: None
            return
        clears = self._clears
        with noting_reads() as noted:
            yield lambda result, needs=None: self.put(key, _answer_of(noted, result, needs), clears)

    def clear(self) -> None:
        """Clear the cache; answers that are being read now are not cached either."""
        with self._lock:
            self._clears += 1
            self._cached.clear()
            self._long.clear()
            self._free_bytes = self._max_bytes

    def put(self, key: CacheKey, answer: CachedAnswer, clears: int | None = None) -> None:
        """Cache an answer, unless the cache was cleared since `clears` was read. Replaces an older answer."""
        size = _size(key, answer)
        if not answer.versions or not all(answer.versions.values()) or size > self._max_bytes:
            return
        with self._lock:
            if clears is not None and clears != self._clears:
                return
            self._drop(key)
            while self._free_bytes < size:
                self._drop(next(iter(self._cached)))
            self._cached[key] = answer
            self._free_bytes -= size
            if len(key[1]) >= _LONG_BYTES:
                self._long.setdefault(_begin_of(key), set()).add(key[1])

    def _replace(self, key: CacheKey, old: CachedAnswer, new: CachedAnswer) -> None:
        """Replace an entry by one with newer versions, unless another thread has replaced it."""
        if self._cached.get(key) is old:
            self._cached[key] = new
            self._cached.move_to_end(key)

    def _drop(self, key: CacheKey) -> None:
        cached = self._cached.pop(key, None)
        if cached is None:
            return
        self._free_bytes += _size(key, cached)
        if len(key[1]) >= _LONG_BYTES:
            alike = self._long[_begin_of(key)]
            alike.remove(key[1])
            if not alike:
                del self._long[_begin_of(key)]


def _answer_of(noted: Mapping[int, NotedRead], result: bytes, needs: Sequence[Any] | None) -> CachedAnswer:
    versions = {table_id: each.version for table_id, each in noted.items()}
    return CachedAnswer(versions, {table_id: each.partitions for table_id, each in noted.items()}, result, needs)


def _begin_of(key: CacheKey) -> CacheKey:
    return key[0], key[1][:_BEGIN_BYTES]


def _size(key: CacheKey, cached: CachedAnswer) -> int:
    names = sum(len(each or ()) for each in cached.partitions.values())
    return _ENTRY_BYTES + len(key[1]) + len(cached.result) + _NAME_BYTES * names
