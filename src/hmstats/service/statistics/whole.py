"""All statistics of a table or of its partitions together: columns, rows, and what is kept beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import StatisticsSet
from hmstats.model.names import normal_partition_name
from hmstats.model.row_counts import row_count
from hmstats.model.table_statistics import TableStatistics
from hmstats.service.statistics.missing import missing_table
from hmstats.service.statistics.questions import StatisticsQuestions
from hmstats.store import partition_sizes, partitions, targets
from hmstats.store.engine import Store
from hmstats.store.targets import Target
from hmstats.store.unit import Connection

_ROWS = "numRows"

_Rows = tuple[int | None, bool]
"""How many there are, and whether that is known to be right."""


class WholeStatistics:
    """Reads them. `plain` reads without sketches, `sketched` with them."""

    def __init__(self, store: Store, *, plain: StatisticsQuestions, sketched: StatisticsQuestions) -> None:
        self._store = store
        self._plain = plain
        self._sketched = sketched

    def read(
        self,
        name: TableName,
        columns: Sequence[str] | None,
        partition_names: Sequence[str] | None,
        engine: str,
        *,
        sketches: bool,
    ) -> list[TableStatistics]:
        """Of the table itself (None), or of these partitions (empty: all) in the order of their names.

        What has no statistics of these columns (None: all) has its rows at least; partitions that are not there are
        left out. Raises NoSuchObject without the table.
        """
        questions = self._sketched if sketches else self._plain
        sets = {each.partition: each for each in questions.statistics(name, columns, partition_names, engine)}
        with self._store.read() as connection:
            target = targets.find(connection, name)
            if target is None:
                raise missing_table(name)
            rows = _rows(connection, target, partition_names)
        return [
            TableStatistics(
                name=name,
                columns=target.columns,
                statistics=_cleared(sets.get(each, StatisticsSet((), each, engine)), sketches=sketches),
                rows=count,
                rows_exact=exact or _seen(sets.get(each)) == {count},
            )
            for each, (count, exact) in rows.items()
        ]


def _rows(connection: Connection, target: Target, partition_names: Sequence[str] | None) -> Mapping[str | None, _Rows]:
    """The rows of the table (None), or of those of the partitions that exist."""
    if partition_names is None:
        return {None: _of_table(connection, target)}
    wanted = [normal_partition_name(each, target.keys) for each in partition_names]
    known = partitions.find_ids(connection, target.id, wanted) if wanted else partitions.names(connection, target.id)
    names = sorted(known)
    counts = partitions.parameter(connection, target.id, names, _ROWS)
    accurate = partitions.parameter(connection, target.id, names, PARAMETER)
    return {each: _said(counts.get(each), accurate.get(each)) for each in names}


def _of_table(connection: Connection, target: Target) -> _Rows:
    """As the table says, else as its partitions come to, which nobody has said to be right."""
    count, exact = _said(target.parameters.get(_ROWS), target.parameters.get(PARAMETER))
    if count is None and target.partition_keys:
        return partition_sizes.of_tables(connection, [target.id]).get(target.id, {}).get(_ROWS), False
    return count, exact


def _said(count: str | None, accurate: str | None) -> _Rows:
    rows = row_count(count)
    return rows, rows is not None and Accurate.parse(accurate).basic


def _seen(found: StatisticsSet | None) -> set[int | None]:
    """How many rows there were, as those say who looked at every one of them."""
    made = (column.provenance for column in (found.columns if found else ()))
    return {each.rows_seen for each in made if each and each.sample_fraction == 1 and each.rows_seen is not None}


def _cleared(found: StatisticsSet, *, sketches: bool) -> StatisticsSet:
    """Without frequent values, unless sketches are asked for."""
    if sketches:
        return found
    return replace(found, columns=tuple(replace(each, top_k=None) for each in found.columns))
