"""The sketches of a column united over a table or any set of its partitions; what is missing is told, with a remedy."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter

from hmstats.errors import MissingStatistics, SketchError
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.service.statistics.merge import ignored
from hmstats.service.statistics.missing import missing_statistics
from hmstats.sketch import bit_vector
from hmstats.sketch.kll import DEFAULT_K, KllHistogram
from hmstats.sketch.top_k import TopK
from hmstats.store import column_statistics, partitions, sketches
from hmstats.store.sketches import Stored, What
from hmstats.store.targets import Target
from hmstats.store.unit import Connection

_AT_ONCE = 256
_NOTHING = Stored(None, None, 0, None)


@dataclass(frozen=True, slots=True)
class Scope:
    """A column of some partitions (by their stored names; None: of all), or of a table that has none.

    `only`: other engines' statistics do not answer.
    """

    name: TableName
    target: Target
    column: str
    kind: Kind
    partitions: Sequence[str] | None
    engine: str
    only: bool = False

    @property
    def partitioned(self) -> bool:
        """Whether the answer comes from partitions."""
        return bool(self.target.partition_keys)

    @property
    def where(self) -> str:
        """The column, for a sentence."""
        return f"column {self.column} of table {self.name}"


def bit_vectors(connection: Connection, scope: Scope) -> bytes | None:
    """The union of the scope's bit vectors, None when it has no partitions; so the next two.

    They raise MissingStatistics when a partition or the table has none that can be read.
    """
    return _united(connection, scope, What.BIT_VECTOR, bit_vector.unite)


def histograms(connection: Connection, scope: Scope) -> KllHistogram:
    """The union of the scope's histograms."""
    united = _united(connection, scope, What.HISTOGRAM, _unite_histograms)
    return KllHistogram() if united is None else KllHistogram.from_bytes(united)


def top_k(connection: Connection, scope: Scope) -> TopK:
    """The union of the scope's top-k sketches."""
    united = _united(connection, scope, What.TOP_K, lambda found: TopK.merge_many(found).to_bytes())
    return TopK() if united is None else TopK.from_bytes(united)


def booleans(connection: Connection, scope: Scope) -> TopK:
    """How often true and false occur in the scope: the statistics of booleans say it exactly."""
    asked = ([scope.column], scope.engine if scope.only else None)
    if scope.partitioned:
        names = partitions.names(connection, scope.target.id) if scope.partitions is None else scope.partitions
        found = column_statistics.read_partitions(connection, scope.target.id, scope.partitions, *asked)
    else:
        names, found = [""], {"": column_statistics.read_table(connection, scope.target.id, *asked)}
    counted, missing = TopK(), []
    for name in names:
        column = chosen(found.get(name, ()), scope.engine)
        data = column.data if column else None
        trues, falses = getattr(data, "trues", None), getattr(data, "falses", None)
        if trues is None or falses is None:
            missing.append(name)
            continue
        counts = {text: count for text, count in (("true", trues), ("false", falses)) if count}
        counted.add(list(counts), list(counts.values()), trues + falses, 0)
    if missing:
        raise missing_statistics(scope.name, scope.target, scope.column, "counts", missing)
    return counted


def chosen(sets: Iterable[StatisticsSet], engine: str) -> ColumnStatistics | None:
    """What the asked engine's set says, or else the newest; all are of one column."""
    ranked = sorted(sets, key=lambda each: (each.engine == engine, each.last_analyzed_seconds or 0))
    return ranked[-1].columns[0] if ranked and ranked[-1].columns else None


Unite = Callable[[Sequence[bytes]], bytes | None]
"""The union of one sketch or more; None when they do not go together."""


def _united(connection: Connection, scope: Scope, what: What, unite: Unite) -> bytes | None:
    own = sketches.of_table
    if not scope.partitioned:
        return _union(scope, what, own(connection, scope.target.id, scope.column, what) or [_NOTHING], unite)
    rows = sketches.of_partitions(connection, scope.target.id, scope.partitions, scope.column, what)
    try:
        return _union(scope, what, rows, unite)
    except MissingStatistics:
        of_table = own(connection, scope.target.id, scope.column, what) if scope.partitions is None else []
        if not any(each.data for each in of_table):
            raise
        return _union(scope, what, of_table, unite)


def _union(scope: Scope, what: What, rows: Iterable[Stored], unite: Unite) -> bytes | None:
    """The union of one sketch of each partition among the rows."""
    united: bytes | None = None
    missing: list[str] = []
    found = _one_each(scope, rows)
    while batch := list(islice(found, _AT_ONCE)):
        taken, united = _taken_in(scope, united, [each for each in batch if each.data is not None], unite)
        known = {each.partition for each in taken}
        missing += [each.partition or "" for each in batch if each.partition not in known]
    if missing:
        raise missing_statistics(scope.name, scope.target, scope.column, what.value, missing)
    return united


def _taken_in(
    scope: Scope, before: bytes | None, present: Sequence[Stored], unite: Unite
) -> tuple[Sequence[Stored], bytes | None]:
    """Those that were united with what was before, and the union; one by one only where one cannot be read."""
    known = [] if before is None else [before]
    try:
        united = unite([*known, *(each.data or b"" for each in present)])
    except SketchError:
        present = [each for each in present if _can_be_read(scope, each, unite)]
        united = unite([*known, *(each.data or b"" for each in present)])
    # Sketches of two kinds do not go together: those that came first stay.
    return (present, united) if united is not None else ((), before)


def _one_each(scope: Scope, rows: Iterable[Stored]) -> Iterator[Stored]:
    """For each partition the asked engine's sketch, or else the newest."""
    for partition, candidates in groupby(rows, key=attrgetter("partition")):
        mine = [each for each in candidates if each.engine == scope.engine or not scope.only]
        ranked = sorted(mine, key=lambda each: (each.data is None, each.engine != scope.engine, -each.analyzed_seconds))
        yield ranked[0] if ranked else Stored(partition, None, 0, None)


def _can_be_read(scope: Scope, stored: Stored, unite: Unite) -> bool:
    try:
        unite([stored.data or b""])
    except SketchError as error:
        ignored(scope.name, scope.column, error, stored.partition)
        return False
    return True


def _unite_histograms(found: Sequence[bytes]) -> bytes:
    histograms = [KllHistogram.from_bytes(each) for each in found]
    united = KllHistogram(min((each.k for each in histograms), default=DEFAULT_K))
    united.absorb(histograms)
    return united.to_bytes()
