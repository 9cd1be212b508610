"""Details stored beside column statistics: each column's provenance and its frequent values.

Every write gets a provenance, even if its sender states none. A bit vector shows that the distinct count is an
estimate, and its standard error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.engine_choice import Precedence, precedence
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.statistics_by_field import StatisticsByField
from hmstats.sketch.distinct import bit_vector
from hmstats.store.statistics import details, provenance, top_k
from hmstats.store.statistics.details import Details
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit


def write(unit: Unit, table_id: int, written: Mapping[int, StatisticsSet], author: str | None) -> None:
    """Store the details of statistics of one engine, by partition id or store.details.OF_TABLE.

    `author` is the sender. At most three statements, whatever the number of partitions.
    """
    engine = next((each.engine for each in written.values()), "")
    derive = cache(partial(_with_derived, author))
    stated = {
        owner: tuple([(each.column, each.provenance, _standard_error(each)) for each in statistics_set.columns])
        for owner, statistics_set in written.items()
    }
    # Most owners of a write have equal details: each distinct set is completed once.
    by_column = {each: {column: derive(*known) for column, *known in each} for each in {*stated.values()}}
    sketches = {
        owner: {each.column: each.top_k for each in statistics_set.columns} for owner, statistics_set in written.items()
    }
    provenance.write(unit, table_id, engine, {owner: by_column[each] for owner, each in stated.items()})
    top_k.replace(unit, table_id, engine, sketches)


def provenance_by_field(statistics: StatisticsByField, author: str | None) -> list[Provenance]:
    """The provenance of plain statistics, whose sender states none: one for each, equal ones as one object."""
    derive, errors = cache(partial(_with_derived, author, None)), _standard_errors(statistics)
    return list(map(derive, errors)) if any(errors) else [derive(None)] * statistics.size


def write_by_field(
    unit: Unit, target: TableFacts, owners: Sequence[int], statistics: StatisticsByField, made: Sequence[Provenance]
) -> None:
    """Store the details of plain statistics of these owners (ids), of which each has its provenance."""
    names, engine = [each.column for each in statistics.columns], statistics.engine
    if len({*map(id, made)}) == 1:
        provenance.write_same(unit, target.id, engine, owners, names, made[0])
    else:
        width = len(names)
        rows = [made[start : start + width] for start in range(0, len(made), width)]
        alike = [tuple(map(id, row)) for row in rows]
        # Most owners of a write have equal provenance: the text of each distinct mapping is made once.
        by_column = {each: dict(zip(names, row, strict=True)) for each, row in zip(alike, rows, strict=True)}
        provenance.write(
            unit, target.id, engine, {owner: by_column[each] for owner, each in zip(owners, alike, strict=True)}
        )
    if target.has_top_k:
        top_k.remove(unit, target.id, engine, owners, names)


def of_table(unit: Unit, table_id: int, stored: Sequence[StatisticsSet]) -> list[StatisticsSet]:
    """A table's stored sets with their details."""
    return attach(stored, details.read_table(unit.connection, table_id, _columns(stored)))


def of_partitions(
    unit: Unit, table_id: int, stored: Mapping[str, Sequence[StatisticsSet]]
) -> dict[str, list[StatisticsSet]]:
    """The stored sets of partitions with their details, by partition name; one statement."""
    columns = _columns([each for sets in stored.values() for each in sets])
    stored_details = list(details.read_partitions(unit.connection, table_id, list(stored), columns))
    by_name: dict[str, list[Details]] = {}
    for each in stored_details:
        by_name.setdefault(each.partition or "", []).append(each)
    return {name: attach(sets, by_name.get(name, ())) for name, sets in stored.items()}


def attach(sets: Iterable[StatisticsSet], stored_details: Iterable[Details]) -> list[StatisticsSet]:
    """The sets of one table or partition with details: of the set's engine if any, else of the preferred engine."""
    ordered = sorted(stored_details, key=_precedence)
    by_engine = {(each.column, each.engine): each for each in ordered}
    by_column = {each.column: each for each in ordered}
    return [
        replace(each, columns=tuple(_with(by_engine, by_column, each.engine, column) for column in each.columns))
        for each in sets
    ]


def _precedence(stored: Details) -> Precedence:
    """The rank of details when no engine is asked for."""
    written = stored.provenance.written_at_seconds if stored.provenance else None
    return precedence(stored.engine, written, "")


def _with(
    by_engine: Mapping[tuple[str, str], Details],
    by_column: Mapping[str, Details],
    engine: str,
    column: ColumnStatistics,
) -> ColumnStatistics:
    stored = by_engine.get((column.column, engine)) or by_column.get(column.column)
    return column if stored is None else replace(column, top_k=stored.top_k, provenance=stored.provenance)


def _with_derived(author: str | None, given: Provenance | None, error: float | None) -> Provenance:
    """The provenance to store: unset fields are derived from the statistics and the author."""
    given = given or Provenance()
    estimated = None if error is None else False
    return replace(
        given,
        exact=estimated if given.exact is None else given.exact,
        ndv_standard_error=error if given.ndv_standard_error is None else given.ndv_standard_error,
        writer=author if given.writer is None else given.writer,
        written_at_seconds=None,
    )


def _standard_error(column: ColumnStatistics) -> float | None:
    """The relative standard error of the distinct count, from the bit vector; None if there is none to read."""
    try:
        return bit_vector.standard_error(getattr(column.data, "bit_vector", None))
    except SketchError:
        return None


def _standard_errors(statistics: StatisticsByField) -> list[float | None]:
    """The relative standard error of each distinct count; None where there is no bit vector."""
    errors: list[float | None] = [None] * statistics.size
    for group in statistics.groups:
        vectors = group.values.get("bit_vector", ())
        for index, error in zip(group.places, bit_vector.standard_errors(vectors), strict=bool(vectors)):
            errors[index] = error
    return errors


def _columns(sets: Iterable[StatisticsSet]) -> list[str]:
    return sorted({column.column for each in sets for column in each.columns})
