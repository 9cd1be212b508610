"""What Spark's tasks do for a check: they read pieces, and compare those that are whole with what is stored of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from hmstats.client import connect
from hmstats.client.batches import batches
from hmstats.client.stored import stored_partitions
from hmstats.collector.checking.groups import GroupSums, counts
from hmstats.collector.checking.judge import judged
from hmstats.collector.checking.report import Tally
from hmstats.collector.checking.seen import Part, Seen
from hmstats.collector.feeds import parquet
from hmstats.collector.feeds.states import States
from hmstats.collector.options import Options
from hmstats.collector.pieces import WHOLE_TABLE
from hmstats.collector.splits import Split, by_piece
from hmstats.model.catalog import Table

_PIECES_A_BATCH = 100


@dataclass(frozen=True, slots=True)
class CheckJob:
    """What every task has to know. `whole`: what was seen of all rows together is wanted."""

    uris: str
    table: Table
    types: Mapping[str, str]
    options: Options
    tolerance: float
    whole: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of some pieces, and what was seen of all of them where it is wanted."""

    tally: Tally
    total: Part | None


def nothing(job: CheckJob) -> Seen:
    """No rows."""
    return Seen(States(job.types, job.options).of(WHOLE_TABLE), GroupSums.empty(len(job.types)))


def read(tasks: Iterable[Iterable[Split]], job: CheckJob) -> Iterator[tuple[str, Part]]:
    """The pieces of tasks' splits and what was seen of each; the same piece may come in many parts."""
    for task in tasks:
        for piece, splits in by_piece(task):
            yield piece, _seen(splits, job).part()


def merged(one: Part, other: Part) -> Part:
    """What was seen of both parts of a piece."""
    return Seen.from_part(one).merge(Seen.from_part(other)).part()


def compare(records: Iterable[tuple[str, Part]], job: CheckJob) -> Iterator[Checked]:
    """Compare partitions, each of which is one record, with what the metastore has of them."""
    tally, total = Tally(), nothing(job)
    with connect(job.uris) as service:
        for batch in batches(records, _PIECES_A_BATCH):
            seen = {piece: Seen.from_part(part) for piece, part in batch}
            for each in seen.values():
                tally = tally.merge(Tally(rows=each.state.rows, rows_read=each.rows_read))
                total = total.merge(each) if job.whole else total
            for stored in stored_partitions(service, job.table, seen) if job.table.partition_keys else ():
                bare = 0 if stored.statistics.columns else 1
                found = seen[stored.statistics.partition or WHOLE_TABLE]
                tally = tally.merge(judged(stored.whole(), found, job.tolerance)).merge(Tally(targets=1, bare=bare))
    yield Checked(tally, total.part() if job.whole else None)


def _seen(splits: Iterable[Split], job: CheckJob) -> Seen:
    """What splits of one piece have. Raises UnreadableFile."""
    found = nothing(job)
    state, groups = found.state, found.groups
    for split in splits:
        for one in _by_group(split) if job.options.sampled else [split]:
            before = counts(state)
            parquet.take(state, one, job.types)
            if groups is not None and one.row_groups:
                groups = groups.merge(GroupSums.of(counts(state) - before))
    return Seen(state, groups)


def _by_group(split: Split) -> list[Split]:
    """The row groups of a split one by one; what names none stays."""
    return [replace(split, row_groups=(group,)) for group in split.row_groups or ()] or [split]
