"""Makes and stores the statistics after a write: of the partitions that were written, and of the table as a whole.

Stored statistics of a piece are used only if they are known to be of exactly the files before the write.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from hmstats.client import Metastore
from hmstats.client.connection.batches import PARTITIONS_A_CALL, batches
from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.situation import Situation, check_alone, situation, true_of
from hmstats.collector.delivery.deliver import Delivery, DeliveryResult, deliver
from hmstats.collector.findings.finding import file_finding
from hmstats.collector.findings.stored_states import accumulators, read_statistics, stored_total
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.planning.prepare import Hadoop
from hmstats.collector.report import Finding
from hmstats.collector.scan.placing import identity
from hmstats.collector.scan.states import States, Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters import accurate
from hmstats.model.parameters.accurate import Accurate
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.accumulator import TableAccumulator

_STALE = dict.fromkeys(("numRows", "rawDataSize", accurate.PARAMETER, PARAMETER))
"""Parameters that are removed if they may be stale."""


@dataclass(frozen=True, slots=True)
class PutResult:
    """The outcome of storing a write's statistics: written pieces and rows, spooled and refused ones."""

    pieces: int
    rows: int
    delivered: DeliveryResult


def put_statistics(
    service: Metastore,
    delivery: Delivery,
    before: Situation,
    now: Situation,
    written: Iterable[WrittenPiece],
    types: Types,
    *,
    appends: bool,
) -> PutResult:
    """Store the statistics after a write, with the parameters that go with them.

    `before`: the table before the write, as far as its rows remain; `now`: the table after it. `appends`: old rows of
    the pieces remain. Raises GatheringFailed if the gathered rows are not all that were written meanwhile,
    ServiceUnavailable.
    """
    plan = _check_plan(now, delivery.table, types)
    check_alone(before, now)
    work = _Pieces(service, before, now, plan, appends=appends)
    every = written if plan.keys else _or_empty_table(written, types)
    delivered = deliver(delivery, work.findings(every))
    if plan.keys:
        whole = deliver(delivery, [(WHOLE_TABLE, _table_finding(service, before, now, plan, work))])
        delivered = DeliveryResult(delivered.spooled + whole.spooled, {**delivered.refused, **whole.refused})
    return PutResult(len(work.touched) if plan.keys else 0, work.new.rows, delivered)


def mark_stale(service: Metastore, delivery: Delivery, before: Situation, hadoop: Hadoop) -> None:
    """Mark the statistics of every piece with changed files, and of the table, as inaccurate.

    Raises ServiceUnavailable.
    """
    now = situation(service, delivery.table, hadoop)
    if now.plan is None:
        return
    changed = [name for name, files in now.files.items() if files != before.files.get(name)]
    if now.plan.keys:
        deliver(delivery, ((name, _stale(now.files[name])) for name in changed))
    if changed:
        deliver(delivery, [(WHOLE_TABLE, _stale(now.every_file))])


class _Pieces:
    """Makes and counts the findings about pieces."""

    def __init__(self, service: Metastore, before: Situation, now: Situation, plan: Plan, *, appends: bool) -> None:
        self._service, self._before, self._now, self._plan, self._appends = service, before, now, plan, appends
        self._trusted = before.trusted() if appends else {}
        self.new = _empty(plan.types)
        """The state of the written rows."""
        self.total: TableAccumulator | None = _empty(plan.types)
        """The state of all rows of the written pieces; None if not all of them are known."""
        self.touched: set[str] = set()

    def findings(self, written: Iterable[WrittenPiece]) -> Iterator[tuple[str, Finding]]:
        """The finding about each written piece."""
        for batch in batches(self._rename_pieces(written), PARTITIONS_A_CALL):
            kept = [name for name, _ in batch if self._keeps_rows(name)]
            stored = _stored_states(self._service, self._before, self._trusted.keys() & kept)
            for name, state in batch:
                yield name, self._finding(name, state, stored.get(name))

    def _rename_pieces(self, written: Iterable[WrittenPiece]) -> Iterator[WrittenPiece]:
        """The pieces under the metastore's names, which may differ from Spark's."""
        keys = self._plan.key_columns
        names = {identity(keys, piece.values): piece.name for piece in self._plan.pieces}
        for name, state in written:
            if name in self._now.files or not keys:
                yield name, state
            else:
                yield names.get(identity(keys, partition_values(name, self._plan.keys)), name), state

    def replaced(self) -> bool:
        """Whether the write has removed rows."""
        gone = (name for name, files in self._before.files.items() if files and name not in self._now.files)
        changed = (name for name in self.touched if self._before.files.get(name) and not self._appends)
        return any(True for _ in chain(gone, changed))

    def _keeps_rows(self, name: str) -> bool:
        return self._appends and bool(self._before.files.get(name))

    def _finding(self, name: str, state: TableAccumulator, stored: TableAccumulator | None) -> Finding:
        files = self._now.files.get(name)
        if files is None:
            raise GatheringFailed(f"partition {name} was written, but the metastore does not have it")
        self.touched.add(name)
        self.new = self.new.merge(state)
        if self._keeps_rows(name):
            if stored is None:
                self.total = None
                return _stale(files)
            state = stored.merge(state)
        if self.total is not None:
            self.total = self.total.merge(state)
        return _finding_of(self._plan, files, state)


def _table_finding(service: Metastore, before: Situation, now: Situation, plan: Plan, work: _Pieces) -> Finding:
    """The finding of a partitioned table itself."""
    files = now.every_file
    count = {"numPartitions": str(len(plan.pieces))}
    total = _table_state(service, before, now, plan, work)
    finding = _stale(files) if total is None else _finding_of(plan, files, total)
    return replace(finding, other={**finding.other, **count})


def _table_state(
    service: Metastore, before: Situation, now: Situation, plan: Plan, work: _Pieces
) -> TableAccumulator | None:
    others = [piece for piece in plan.pieces if piece.name not in work.touched and now.files[piece.name]]
    if not others:
        return work.total
    if before.plan and not work.replaced() and true_of(before.plan.parameters, before.every_file, plan.types):
        own = _stored_table_state(service, before.plan)
        return None if own is None else own.merge(work.new)
    trusted = before.trusted()
    same = all(each.name in trusted and now.files[each.name] == before.files[each.name] for each in others)
    if work.total is None or not same:
        return None
    stored = stored_total(service, plan, others)
    return None if stored is None else _with_sketches(stored.merge(work.total))


def _stored_states(service: Metastore, before: Situation, known: Collection[str]) -> dict[str, TableAccumulator]:
    """The stored states of pieces with current statistics, if they can be merged with new rows."""
    if not known or before.plan is None:
        return {}
    if not before.plan.keys:
        own = _stored_table_state(service, before.plan)
        return {} if own is None else {WHOLE_TABLE: own}
    rows = {piece.name: int(piece.parameters["numRows"]) for piece in before.plan.pieces if piece.name in known}
    found = {each.partition or "": each for each in read_statistics(service, before.plan, sorted(known))}
    states = {name: _state(found[name], rows[name], before.plan.types) for name in known if name in found}
    return {name: state for name, state in states.items() if state is not None}


def _stored_table_state(service: Metastore, plan: Plan) -> TableAccumulator | None:
    """The state of the table itself."""
    rows = int(plan.parameters["numRows"])
    found = next(iter(read_statistics(service, plan, None)), None)
    return None if found is None else _state(found, rows, plan.types)


def _state(found: StatisticsSet, rows: int, types: Types) -> TableAccumulator | None:
    state = None if _of_sample(found) else accumulators(found, rows)
    if state is None or state.columns.keys() != types.keys():
        return None
    return _with_sketches(state)


def _of_sample(found: StatisticsSet) -> bool:
    """Whether statistics are of a sample: sketches of all new rows cannot be merged into a sample's."""
    made = (column.provenance for column in found.columns if column.provenance is not None)
    return any(each.sample_fraction is not None and each.sample_fraction < 1 for each in made)


def _with_sketches(state: TableAccumulator) -> TableAccumulator | None:
    """The state if all its columns have their distinct-count sketch; else None."""
    made = TableAccumulator.empty({name: column.kind for name, column in state.columns.items()})
    whole = all(column.hll or not made.columns[name].hll for name, column in state.columns.items())
    return state if whole else None


def _finding_of(plan: Plan, files: Sequence[DataFile], state: TableAccumulator) -> Finding:
    known = file_finding(plan, files, DEFAULT)
    marks = {accurate.PARAMETER: Accurate(basic=True, columns=frozenset(plan.types)).text()}
    columns = state.statistics(plan.types)
    return replace(known, rows=state.rows, columns=columns, other={**known.other, **marks})


def _stale(files: Sequence[DataFile]) -> Finding:
    return Finding(None, sum(file.bytes for file in files), len(files), (), other=_STALE)


def _check_plan(now: Situation, name: TableName, types: Types) -> Plan:
    """The plan of the written table. Raises GatheringFailed if its columns are not those that were gathered."""
    if now.plan is None:
        raise GatheringFailed(f"table {name.short} was written, but the metastore does not have it")
    gathered = {column: kind_of(type_) for column, type_ in types.items()}
    stored = {column: kind_of(type_) for column, type_ in now.plan.types.items()}
    if gathered != stored:
        raise GatheringFailed(f"statistics of {sorted(types)} were gathered, the table has {sorted(now.plan.types)}")
    return now.plan


def _or_empty_table(written: Iterable[WrittenPiece], types: Mapping[str, str]) -> Iterator[WrittenPiece]:
    """The pieces; if no row was written, the table as an empty piece."""
    found = iter(written)
    yield next(found, (WHOLE_TABLE, _empty(types)))
    yield from found


def _empty(types: Types) -> TableAccumulator:
    return States(types).of(WHOLE_TABLE)
