"""Spark's tasks of a check: they read pieces, and compare complete ones with the stored statistics."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hmstats.client import connect
from hmstats.client.connection.batches import batches
from hmstats.client.connection.credentials import NOTHING, HandedOver, credentials
from hmstats.client.tables.stored_statistics import stored_partitions
from hmstats.collector.checking.groups import GroupSums, counts
from hmstats.collector.checking.judge import judge_columns
from hmstats.collector.checking.report import Tally
from hmstats.collector.checking.seen import Part, Seen
from hmstats.collector.options import Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan import file_rows
from hmstats.collector.scan.files.splits import Split, by_piece
from hmstats.collector.scan.states import States
from hmstats.collector.scan.worker_memory import freeze_modules
from hmstats.model.catalog.objects import Table

_PIECES_A_BATCH = 100


@dataclass(frozen=True, slots=True)
class CheckJob:
    """The settings that every task needs. `whole`: merge the state of all rows too."""

    uris: str
    table: Table
    types: Mapping[str, str]
    options: Options
    tolerance: float
    whole: bool
    handed: HandedOver = NOTHING


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of some pieces, with the merged state of all of them if `whole`.

    `unknown` are partitions that the metastore does not have, with their numbers of rows.
    """

    tally: Tally
    total: Part | None
    unknown: Mapping[str, int] = field(default_factory=dict)


def no_rows(job: CheckJob) -> Seen:
    """No rows."""
    return Seen(States(job.types, job.options).of(WHOLE_TABLE), GroupSums.empty(len(job.types)))


@freeze_modules
def read_tasks(tasks: Iterable[Iterable[Split]], job: CheckJob) -> Iterator[tuple[str, Part]]:
    """Read tasks' splits; yields pieces with a part of each. A piece may have many parts."""
    for task in tasks:
        for piece, splits in by_piece(task):
            yield piece, _read_piece(splits, job).part()


def merge_parts(one: Part, other: Part) -> Part:
    """Merge two parts of a piece."""
    return Seen.from_part(one).merge(Seen.from_part(other)).part()


@freeze_modules
def compare(records: Iterable[tuple[str, Part]], job: CheckJob) -> Iterator[CheckOutcome]:
    """Compare partitions, one record each, with the metastore's statistics."""
    tally, total, unknown = Tally(), no_rows(job), dict[str, int]()
    with connect(job.uris, credentials=credentials(job.handed)) as service:
        for batch in batches(records, _PIECES_A_BATCH):
            seen = {piece: Seen.from_part(part) for piece, part in batch}
            for each in seen.values():
                tally = tally.merge(Tally(rows=each.state.rows, rows_read=each.rows_read))
                total = total.merge(each) if job.whole else total
            unknown |= {piece: each.state.rows for piece, each in seen.items()} if job.table.partition_keys else {}
            for stored in stored_partitions(service, job.table, seen) if job.table.partition_keys else ():
                unknown.pop(stored.statistics.partition or WHOLE_TABLE)
                bare = 0 if stored.statistics.columns else 1
                found = seen[stored.statistics.partition or WHOLE_TABLE]
                tally = tally.merge(judge_columns(stored.table_statistics(), found, job.tolerance)).merge(
                    Tally(targets=1, without_statistics=bare)
                )
    yield CheckOutcome(tally, total.part() if job.whole else None, unknown)


def _read_piece(splits: Iterable[Split], job: CheckJob) -> Seen:
    """Read the splits of one piece. Raises UnreadableFile."""
    found = no_rows(job)
    state, groups = found.state, found.groups
    for split in splits:
        for one in _by_group(split) if job.options.sampled else [split]:
            before = counts(state)
            file_rows.add_split(state, one, job.types)
            if groups is not None and one.row_groups:
                groups = groups.merge(GroupSums.of(counts(state) - before))
    return Seen(state, groups)


def _by_group(split: Split) -> list[Split]:
    """A split for each row group of a split; a split without row groups stays."""
    return [replace(split, row_groups=(group,)) for group in split.row_groups or ()] or [split]
