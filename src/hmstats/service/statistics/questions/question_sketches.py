"""Sketches of columns merged over a table or a set of its partitions, or an error that says how to compute them.

All columns of a question are read together: a statement for each kind of sketch, however many columns there are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias, TypeVar

from hmstats.errors import MissingStatistics, SketchError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.engine_choice import Precedence, precedence
from hmstats.service.statistics.errors import missing_statistics
from hmstats.service.statistics.merge import log_ignored
from hmstats.service.statistics.reading.partition_blocks import PartitionBlocks
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import DEFAULT_K, KllHistogram
from hmstats.store.partitions import partitions
from hmstats.store.statistics import aggregates, column_statistics, sketches
from hmstats.store.statistics.sketches import SketchKind, StoredSketch
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection

_MOST_AT_ONCE, _LEAST_AT_ONCE = 256, 16
"""Sketches merged at once, for each column: at most if there is one column, at least if there are many."""

Result = TypeVar("Result")
Outcome: TypeAlias = Result | MissingStatistics
"""An answer, or the error that explains its absence."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Columns with their kinds, of some partitions (stored names; None: all), or of an unpartitioned table.

    If `only`, other engines' statistics are ignored. `blocks` may answer for many partitions.
    """

    name: TableName
    target: TableFacts
    kinds: Mapping[str, Kind]
    partitions: Sequence[str] | None
    engine: str
    only: bool = False
    blocks: PartitionBlocks | None = None

    @property
    def partitioned(self) -> bool:
        """Whether the table is partitioned, so that partitions' sketches answer."""
        return bool(self.target.partition_keys)


def bit_vectors(connection: Connection, scope: Scope) -> dict[str, Outcome[bytes | None]]:
    """Each column's merged bit vector; None if the scope has no partitions.

    Returns MissingStatistics for a column if a partition, or the table, has no readable one.
    """
    merged = _from_blocks(connection, scope)
    rest = replace(scope, kinds={column: kind for column, kind in scope.kinds.items() if column not in merged})
    return merged | (_merge_all(connection, rest, SketchKind.BIT_VECTOR, bit_vector.merge) if rest.kinds else {})


def histograms(connection: Connection, scope: Scope) -> dict[str, Outcome[KllHistogram]]:
    """Each column's merged histogram, or MissingStatistics."""
    outcomes = _merge_all(connection, scope, SketchKind.HISTOGRAM, _merge_histograms)
    return {column: _read(each, KllHistogram.from_bytes, KllHistogram) for column, each in outcomes.items()}


def top_k(connection: Connection, scope: Scope) -> dict[str, Outcome[TopK]]:
    """Each column's merged top-k sketch, or MissingStatistics."""
    outcomes = _merge_all(connection, scope, SketchKind.TOP_K, lambda some: TopK.merge_many(some).to_bytes())
    return {column: _read(each, TopK.from_bytes, TopK) for column, each in outcomes.items()}


def booleans(connection: Connection, scope: Scope) -> dict[str, Outcome[TopK]]:
    """The counts of true and false of each column as a sketch; exact, since they come from boolean statistics."""
    selection = (list(scope.kinds), scope.engine if scope.only else None)
    names: Sequence[str] = [""]
    if scope.partitioned:
        names = partitions.names(connection, scope.target.id) if scope.partitions is None else scope.partitions
        by_column = column_statistics.read_columns_of_partitions(
            connection, scope.target.id, scope.partitions, *selection
        )
    else:
        by_column = column_statistics.read_columns_of_table(connection, scope.target.id, *selection)
    return {column: _booleans(scope, column, names, by_column.get(column, {})) for column in scope.kinds}


def answer_of(outcome: Outcome[Result]) -> Result:
    """The answer. Raises MissingStatistics if there is none."""
    if isinstance(outcome, MissingStatistics):
        raise outcome
    return outcome


def choose(sets: Iterable[StatisticsSet], engine: str) -> ColumnStatistics | None:
    """The statistics of the asked engine's set, else of the newest; all sets are of one column."""
    ranked = sorted(sets, key=lambda each: precedence(each.engine, each.last_analyzed_seconds, engine))
    return ranked[-1].columns[0] if ranked and ranked[-1].columns else None


def _booleans(
    scope: Scope, column: str, names: Sequence[str], found: Mapping[str, Sequence[StatisticsSet]]
) -> Outcome[TopK]:
    counted, missing = TopK(), []
    for name in names:
        stored = choose(found.get(name, ()), scope.engine)
        data = stored.data if stored else None
        trues, falses = getattr(data, "trues", None), getattr(data, "falses", None)
        if trues is None or falses is None:
            missing.append(name)
            continue
        counts = {text: count for text, count in (("true", trues), ("false", falses)) if count}
        counted.add(list(counts), list(counts.values()), trues + falses, 0)
    return missing_statistics(scope.name, scope.target, column, "counts", missing) if missing else counted


Merge = Callable[[Sequence[bytes]], bytes | None]
"""Merges one or more sketches; returns None if their kinds cannot be merged."""


def _merge_all(
    connection: Connection, scope: Scope, kind: SketchKind, merge: Merge
) -> dict[str, Outcome[bytes | None]]:
    columns = list(scope.kinds)
    if not scope.partitioned:
        unions = _of_table(connection, scope, columns, kind, merge)
    else:
        rows = sketches.of_partitions(connection, scope.target.id, scope.partitions, columns, kind)
        unions = _unions(scope, columns, rows, merge)
        missing = [column for column, each in unions.items() if each.missing]
        if missing and scope.partitions is None:
            own = _of_table(connection, scope, missing, kind, merge)
            unions |= {column: each for column, each in own.items() if not each.missing}
    return {column: each.outcome(kind) for column, each in unions.items()}


def _from_blocks(connection: Connection, scope: Scope) -> dict[str, Outcome[bytes | None]]:
    """The bit vectors of columns whose blocks have one of every partition."""
    if scope.blocks is None or not scope.partitioned:
        return {}
    block_scope = aggregates.Scope(scope.target.id, scope.partitions, list(scope.kinds), scope.engine, only=scope.only)
    unions = scope.blocks.unions(connection, block_scope, scope.target.version)
    return {column: each.vector for column, each in unions.items() if each.partitions == each.asked}


def _of_table(
    connection: Connection, scope: Scope, columns: Sequence[str], kind: SketchKind, merge: Merge
) -> "dict[str, _Union]":
    rows = sketches.of_table(connection, scope.target.id, columns, kind)
    return _unions(scope, columns, rows or [StoredSketch(None, None, None, 0, None)], merge)


def _unions(scope: Scope, columns: Sequence[str], rows: Iterable[StoredSketch], merge: Merge) -> "dict[str, _Union]":
    """The merged sketches by column, one sketch of each partition; `rows` are grouped by partition."""
    at_once = max(_LEAST_AT_ONCE, _MOST_AT_ONCE // max(len(columns), 1))
    unions = {column: _Union(scope, column, merge, at_once) for column in columns}
    for partition, group in groupby(rows, key=attrgetter("partition")):
        by_column: dict[str | None, list[StoredSketch]] = defaultdict(list)
        for each in group:
            by_column[each.column].append(each)
        for column, union in unions.items():
            union.add(partition or "", by_column.get(column, ()))
    for union in unions.values():
        union.merge_waiting()
    return unions


class _Union:
    """The merged sketch of one column, fed partition by partition."""

    def __init__(self, scope: Scope, column: str, merge: Merge, at_once: int) -> None:
        self._scope, self._column, self._merge, self._at_once = scope, column, merge, at_once
        self._union: bytes | None = None
        self._waiting: list[tuple[str, bytes]] = []
        self.missing: list[str] = []
        """The partitions without a readable sketch ("": the table itself)."""

    def add(self, partition: str, candidates: Iterable[StoredSketch]) -> None:
        """Add a partition's sketch: the asked engine's, else the newest."""
        scope = self._scope
        mine = [each for each in candidates if each.engine == scope.engine or not scope.only]
        # If the asked engine has statistics without a sketch, another engine's sketch answers.
        best = max(mine, key=lambda each: (each.data is not None, _precedence(each, scope.engine)), default=None)
        if best is None or best.data is None:
            self.missing.append(partition)
            return
        self._waiting.append((partition, best.data))
        if len(self._waiting) == self._at_once:
            self.merge_waiting()

    def outcome(self, kind: SketchKind) -> Outcome[bytes | None]:
        """The merged sketch, after all partitions were added and taken in."""
        if self.missing:
            return missing_statistics(self._scope.name, self._scope.target, self._column, kind.value, self.missing)
        return self._union

    def merge_waiting(self) -> None:
        """Merge the waiting sketches. If one is unreadable, test each of them and skip the unreadable ones."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        before = [] if self._union is None else [self._union]
        try:
            union = self._merge([*before, *(data for _, data in waiting)])
        except SketchError:
            readable = [each for each in waiting if self._can_be_read(*each)]
            self.missing += [each[0] for each in waiting if each not in readable]
            waiting = readable
            union = self._merge([*before, *(data for _, data in waiting)])
        if union is None:  # two kinds of sketches cannot be merged: the first kind stays
            self.missing += [partition for partition, _ in waiting]
        else:
            self._union = union

    def _can_be_read(self, partition: str, data: bytes) -> bool:
        try:
            self._merge([data])
        except SketchError as error:
            log_ignored(self._scope.name, self._column, error, partition or None)
            return False
        return True


def _read(
    outcome: Outcome[bytes | None], read: Callable[[bytes], Result], empty: Callable[[], Result]
) -> Outcome[Result]:
    if isinstance(outcome, MissingStatistics):
        return outcome
    return empty() if outcome is None else read(outcome)


def _precedence(stored: StoredSketch, asked: str) -> Precedence:
    return precedence(stored.engine or "", stored.analyzed_seconds, asked)


def _merge_histograms(contents: Sequence[bytes]) -> bytes:
    histograms = [KllHistogram.from_bytes(each) for each in contents]
    merged = KllHistogram(min((each.k for each in histograms), default=DEFAULT_K))
    merged.absorb(histograms)
    return merged.to_bytes()
