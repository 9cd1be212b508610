"""Encoded answers that are kept, so that a question asked again costs one look at a version and no work.

A question is a method's name and the bytes of its arguments. An answer is true as long as each table that it was made
from has the number that it had then (store/versions.py), or nothing changed since but partitions that it was not made
from (store/changes.py). The numbers are read, at each question, after the question came. So a read that begins after a
write was answered, on any server over the database, sees the write.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from hmstats.server.messages import Head
from hmstats.store.versions import Noted, noting

Question = tuple[str, bytes]
Versions = Mapping[int, int]
Between = Callable[[int, int, int], frozenset[str] | None]
"""Tells the partitions by name that alone changed of a table from one number to another; None: perhaps anything."""

_KEPT = frozenset(
    {
        "get_table_column_statistics",
        "get_partition_column_statistics",
        "get_table_statistics_req",
        "get_partitions_statistics_req",
        "get_aggr_stats_for",
        "get_distinct_count",
        "get_quantiles",
        "get_top_k",
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
"""Calls whose answers depend on nothing but their arguments and the tables that they note, and not on who asks."""

_SPARK_SEES_OTHERS = frozenset({"get_table", "get_table_req"})
"""But for these: Spark may see its own parameters there."""

_ENTRY_BYTES = 900
"""What an answer costs beside its bytes and its question's."""
_NAME_BYTES = 150
"""What the name of a partition costs that an answer was made from."""


class Kept(NamedTuple):
    """An answer, and what it was made from."""

    versions: Versions
    partitions: Mapping[int, frozenset[str] | None]
    """Those of each table that the answer was made from; None is any."""
    result: bytes

    def is_same(self, now: Versions) -> bool:
        """Whether the answer is true, since nothing at all changed up to these numbers."""
        return self.versions.items() <= now.items()


class Answers:
    """The newest answers, of at most `max_bytes` together; used by many threads at once.

    `current` reads the numbers that tables have now; one that has none is left out. `between` tells what happened to
    partitions alone; without it anything may have.
    """

    def __init__(
        self, current: Callable[[Collection[int]], Versions], max_bytes: int, between: Between | None = None
    ) -> None:
        self._current = current
        self._between = between or (lambda *_: None)
        self._free_bytes = self._max_bytes = max_bytes
        self._kept: OrderedDict[Question, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def question(self, name: str, message: bytes, body_at: int, *, of_spark: bool = False) -> Question | None:
        """The question that a request asks, `of_spark` or of another; None when its answers are not kept.

        `name` is its method's, `body_at` where its arguments begin.
        """
        if not self._max_bytes or name not in _KEPT:
            return None
        if of_spark and name in _SPARK_SEES_OTHERS:
            name = f"{name} of Spark"
        return name, message[body_at:]

    def find(self, question: Question) -> bytes | None:
        """The encoded result that answers the question now, if it is kept."""
        kept = self.look(question)
        if kept is None:
            return None
        now = self._current(kept.versions.keys())
        if kept.is_same(now):
            return kept.result
        if not self._is_untouched(kept, now):
            return None
        with self._lock:
            self._replace(question, kept, kept._replace(versions=now))
        return kept.result

    def knows(self, head: Head, data: bytearray) -> bool:
        """Whether the bytes are a whole request whose answer is kept."""
        if head.name not in _KEPT:  # a large write is not to be copied for nothing
            return False
        return (head.name, bytes(data[head.body_at :])) in self._kept

    def look(self, question: Question) -> Kept | None:
        """The answer that is kept of the question; it may not be true any more."""
        with self._lock:
            if kept := self._kept.get(question):
                self._kept.move_to_end(question)
            return kept

    def _is_untouched(self, kept: Kept, now: Versions) -> bool:
        """Whether all that changed since are partitions that the answer was not made from."""
        if now.keys() != kept.versions.keys():
            return False
        for table_id, read in kept.partitions.items():
            if now[table_id] == kept.versions[table_id]:
                continue
            changed = None if read is None else self._between(table_id, kept.versions[table_id], now[table_id])
            if read is None or changed is None or not changed.isdisjoint(read):
                return False
        return True

    @contextmanager
    def listening(self, question: Question | None) -> Iterator[Callable[[bytes], None]]:
        """Notes the tables that are read inside; the function given keeps the result that was made of them."""
        if question is None:
            yield lambda _: None
            return
        with noting() as noted:
            yield lambda result: self.keep(question, _made(noted, result))

    def keep(self, question: Question, made: Kept) -> None:
        """Keep an answer, in the place of an older one."""
        size = _size(question, made)
        if not made.versions or not all(made.versions.values()) or size > self._max_bytes:
            return
        with self._lock:
            self._drop(question)
            while self._free_bytes < size:
                self._drop(next(iter(self._kept)))
            self._kept[question] = made
            self._free_bytes -= size

    def _replace(self, question: Question, old: Kept, new: Kept) -> None:
        """Keep the same answer at newer numbers, unless another took its place."""
        if self._kept.get(question) is old:
            self._kept[question] = new
            self._kept.move_to_end(question)

    def _drop(self, question: Question) -> None:
        kept = self._kept.pop(question, None)
        if kept is not None:
            self._free_bytes += _size(question, kept)


def _made(noted: Mapping[int, Noted], result: bytes) -> Kept:
    versions = {table_id: each.version for table_id, each in noted.items()}
    return Kept(versions, {table_id: each.partitions for table_id, each in noted.items()}, result)


def _size(question: Question, kept: Kept) -> int:
    names = sum(len(each or ()) for each in kept.partitions.values())
    return _ENTRY_BYTES + len(question[1]) + len(kept.result) + _NAME_BYTES * names
