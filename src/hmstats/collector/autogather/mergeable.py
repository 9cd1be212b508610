"""Stored statistics as states that new rows can be merged into."""

from collections.abc import Collection

from hmstats.client import Metastore
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.findings.stored_states import accumulators, read_statistics
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.scan.states import Types
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.sketch.accumulator import TableAccumulator


def stored_states(service: Metastore, before: TableState, known: Collection[str]) -> dict[str, TableAccumulator]:
    """The stored states of pieces with current statistics, if they can be merged with new rows."""
    if not known or before.plan is None:
        return {}
    if not before.plan.keys:
        own = stored_table_state(service, before.plan)
        return {} if own is None else {WHOLE_TABLE: own}
    rows = {piece.name: int(piece.parameters["numRows"]) for piece in before.plan.pieces if piece.name in known}
    found = {each.partition or "": each for each in read_statistics(service, before.plan, sorted(known))}
    states = {name: _state(found[name], rows[name], before.plan.types) for name in known if name in found}
    return {name: state for name, state in states.items() if state is not None}


def stored_table_state(service: Metastore, plan: Plan) -> TableAccumulator | None:
    """The state of the table itself."""
    rows = int(plan.parameters["numRows"])
    found = next(iter(read_statistics(service, plan, None)), None)
    return None if found is None else _state(found, rows, plan.types)


def with_sketches(state: TableAccumulator) -> TableAccumulator | None:
    """The state if all its columns have their distinct-count sketch; else None."""
    made = TableAccumulator.empty({name: column.kind for name, column in state.columns.items()})
    whole = all(column.hll or not made.columns[name].hll for name, column in state.columns.items())
    return state if whole else None


def _state(found: StatisticsSet, rows: int, types: Types) -> TableAccumulator | None:
    state = None if _of_sample(found) else accumulators(found, rows)
    if state is None or state.columns.keys() != types.keys():
        return None
    return with_sketches(state)


def _of_sample(found: StatisticsSet) -> bool:
    """Whether statistics are of a sample: sketches of all new rows cannot be merged into a sample's."""
    made = (column.provenance for column in found.columns if column.provenance is not None)
    return any(each.sample_fraction is not None and each.sample_fraction < 1 for each in made)
