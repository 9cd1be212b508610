"""Makes and stores the statistics after a write: of the partitions that were written, and of the table as a whole.

Stored statistics of a piece are used only if they are known to be of exactly the files before the write.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hmstats.client import Metastore
from hmstats.collector.autogather.aggregation import WrittenPiece
from hmstats.collector.autogather.table_itself import TableItself
from hmstats.collector.autogather.table_state import TableState
from hmstats.collector.autogather.written_pieces import WrittenPieces, empty_state, stale_finding, stale_table
from hmstats.collector.delivery.deliver import Delivery, DeliveryResult, deliver
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.scan.states import Types
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.accumulator import TableAccumulator

EMPTY: Mapping[str, TableAccumulator] = {}


@dataclass(frozen=True, slots=True)
class PutResult:
    """The outcome of storing a write's statistics: written pieces and rows, spooled and refused ones.

    `state` is that of all rows of a table without partitions, None if it is not known.
    """

    pieces: int
    rows: int
    delivered: DeliveryResult
    state: TableAccumulator | None = None


def put_statistics(
    service: Metastore,
    delivery: Delivery,
    before: TableState,
    now: TableState,
    written: Iterable[WrittenPiece],
    types: Types,
    *,
    appends: bool,
    known: Mapping[str, TableAccumulator] = EMPTY,
) -> PutResult:
    """Store the statistics after a write, and the parameters that belong to them.

    `before`: the table before the write, as far as its rows remain; `now`: the table after it. `appends`: old rows of
    the pieces remain. `known` are states of pieces before the write, which need not be stored. Raises GatheringFailed,
    ServiceUnavailable.
    """
    plan = _check_plan(now, delivery.table, types)
    work = WrittenPieces(service, before, now, plan, appends=appends, known=known)
    every = written if plan.keys else _or_empty_table(written, now)
    delivered = deliver(delivery, work.findings(every))
    if plan.keys:
        itself = TableItself(service, before, now, plan, work)
        whole = deliver(delivery, [(WHOLE_TABLE, itself.finding())])
        delivered = DeliveryResult(delivered.spooled + whole.spooled, {**delivered.refused, **whole.refused})
        return PutResult(len(work.touched), work.new.rows, delivered)
    return PutResult(0, work.new.rows, delivered, work.total)


def mark_stale(delivery: Delivery, before: TableState, now: TableState) -> None:
    """Mark the statistics of every piece with changed files, and of the table, as inaccurate.

    Raises ServiceUnavailable.
    """
    if now.plan is None:
        return
    changed = before.changed_pieces(now)
    if now.plan.keys:
        deliver(delivery, ((name, stale_finding(now.files[name])) for name in changed))
    if changed:
        deliver(delivery, [(WHOLE_TABLE, stale_table(now))])


def _check_plan(now: TableState, name: TableName, types: Types) -> Plan:
    """The plan of the written table. Raises GatheringFailed if its columns are not the gathered ones."""
    if now.plan is None:
        raise GatheringFailed(f"table {name.typed} was written, but the metastore does not have it")
    gathered = {column: kind_of(type_) for column, type_ in types.items()}
    stored = {column: kind_of(type_) for column, type_ in now.plan.types.items()}
    if gathered != stored:
        raise GatheringFailed(f"statistics of {sorted(types)} were gathered, the table has {sorted(now.plan.types)}")
    return now.plan


def _or_empty_table(written: Iterable[WrittenPiece], now: TableState) -> Iterator[WrittenPiece]:
    """The written pieces; if no row was written, the whole table as an empty piece."""
    found, types = iter(written), now.plan.types if now.plan else {}
    yield next(found, (WHOLE_TABLE, empty_state(types, now.options)))
    yield from found
