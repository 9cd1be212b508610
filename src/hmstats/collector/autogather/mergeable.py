"""Reads stored statistics as states with which new rows can be merged."""

from collections.abc import Collection

from hmstats.client import Metastore
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.findings.stored_states import accumulators, read_statistics
from hmstats.collector.options import Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.sketch.accumulator import TableAccumulator


def stored_states(service: Metastore, before: TableState, known: Collection[str]) -> dict[str, TableAccumulator]:
    """The stored states of pieces with current statistics, if they can be merged with new rows."""
    if not known or before.plan is None:
        return {}
    if not before.plan.keys:
        own = stored_table_state(service, before)
        return {} if own is None else {WHOLE_TABLE: own}
    rows = {piece.name: int(piece.parameters["numRows"]) for piece in before.plan.pieces if piece.name in known}
    if not before.plan.types:
        return {name: TableAccumulator({}, count) for name, count in rows.items()}
    found = {each.partition or "": each for each in read_statistics(service, before.plan, sorted(known))}
    states = {name: _state(found[name], rows[name], before) for name in known if name in found}
    return {name: state for name, state in states.items() if state is not None}


def stored_table_state(service: Metastore, before: TableState) -> TableAccumulator | None:
    """The state of the table itself."""
    if before.plan is None:
        return None
    rows = int(before.plan.parameters["numRows"])
    if not before.plan.types:
        return TableAccumulator({}, rows)
    found = next(iter(read_statistics(service, before.plan, None)), None)
    return None if found is None else _state(found, rows, before)


def with_sketches(state: TableAccumulator, options: Options) -> TableAccumulator | None:
    """The state, if all its columns have the distinct-count sketch that they should have; else None."""
    made = TableAccumulator.empty({name: column.kind for name, column in state.columns.items()})
    wanted = (name for name, column in made.columns.items() if column.hll and options.sketches_of(name).distinct)
    return state if all(state.columns[name].hll for name in wanted) else None


def _state(found: StatisticsSet, rows: int, before: TableState) -> TableAccumulator | None:
    state = None if _of_sample(found) else accumulators(found, rows)
    if state is None or before.plan is None or state.columns.keys() != before.plan.types.keys():
        return None
    return with_sketches(state, before.options)


def _of_sample(found: StatisticsSet) -> bool:
    """Whether statistics are of a sample, with whose sketches those of all new rows cannot be merged."""
    made = (column.provenance for column in found.columns if column.provenance is not None)
    return any(each.sample_fraction is not None and each.sample_fraction < 1 for each in made)
