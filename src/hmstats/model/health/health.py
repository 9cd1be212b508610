"""Health of statistics: 100 if nothing has changed since they were made, 0 if they are missing or nothing is left of
what they describe.

Health is judged at each change, from what is known now and what was known before, and stored. A list of tables by
health computes nothing.

The share of changed rows is |rows now - rows then| / rows then, or the sum of all changes seen since if that is more.
If nobody counts rows, bytes and then files stand in for them. If somebody has withdrawn the mark of accurate statistics
and no count tells how much has changed, health is 50 (UNMARKED_HEALTH). Statistics of only some columns are worth the
part of the columns that they cover.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

WHOLE = 100
"""The health of statistics since which nothing has changed."""
UNMARKED_HEALTH = 50
"""The health of statistics since which something has changed, nobody knows how much."""
JUMP_FACTOR = 10
"""A number of rows that has grown or shrunk by this factor has jumped."""


class Reason(StrEnum):
    """The reason for a health; of several reasons, the first."""

    MISSING = "missing"
    """No column has statistics."""
    CHANGED = "changed"
    """Rows, bytes or files are not what they were."""
    UNMARKED = "unmarked"
    """The mark of accurate statistics was withdrawn, and no count tells how much has changed."""
    INCOMPLETE = "incomplete"
    """Some columns have no statistics."""
    EMPTY = "empty"
    """There are no rows, so that nothing is missing."""
    FRESH = "fresh"
    """Nothing has changed since the statistics were made."""


@dataclass(frozen=True, slots=True)
class Size:
    """Rows, files and bytes; None if unknown."""

    rows: int | None = None
    files: int | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """The stored facts about a table or a partition at a moment.

    `counted`: the number of rows is marked as accurate. `marked`: so are the statistics of all columns that have any.
    `columns` can have statistics, `analyzed` of them do. `analyzed_at_seconds` is the epoch time of the oldest of
    them, `seen_rows` the rows that they were made of, `changed_at_seconds` the time of the last change of data, None
    if statistics were written last. `rewritten`: all of the statistics were written after the last look, when the size
    was `then`. `withdrawn`: they were marked then, and are not now.
    """

    size: Size
    columns: int
    analyzed: int
    counted: bool = False
    marked: bool = False
    analyzed_at_seconds: int | None = None
    seen_rows: int | None = None
    changed_at_seconds: int | None = None
    rewritten: bool = False
    withdrawn: bool = False
    then: Size | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The judged health of a table or a partition.

    `then` is the size when the statistics were made. `moved_rows` is the sum of all changes of the number of rows since
    then. `stale_since_ms` is the epoch time at which health was first seen below 100. For a table with partitions,
    `partitions` is their number and `stale_partitions` the number with a health below 100.
    """

    health: int
    reason: Reason
    now: Size
    then: Size
    moved_rows: int
    marked: bool
    columns: int
    analyzed: int
    analyzed_at_seconds: int | None
    stale_since_ms: int | None
    partitions: int | None = None
    stale_partitions: int | None = None

    @property
    def jump(self) -> float | None:
        """The factor by which the number of rows has jumped since then, 0.0 to none; None if it has not."""
        if not self.then.rows or self.now.rows is None:
            return None
        factor = self.now.rows / self.then.rows
        return factor if factor >= JUMP_FACTOR or factor <= 1 / JUMP_FACTOR else None


_WITHOUT_PARTITIONS = Health(
    WHOLE,
    Reason.EMPTY,
    now=Size(0, 0, 0),
    then=Size(),
    moved_rows=0,
    marked=True,
    columns=0,
    analyzed=0,
    analyzed_at_seconds=None,
    stale_since_ms=None,
    partitions=0,
    stale_partitions=0,
)


def assess(before: Health | None, facts: Facts, at_ms: int) -> Health:
    """The health at a time (epoch ms), given the health before it; None if nothing was known."""
    then, moved = _base(before, facts)
    health, reason = _health_of(before, facts, then, moved)
    since = None
    if health < WHOLE:
        since = at_ms if before is None or before.stale_since_ms is None else before.stale_since_ms
    return Health(
        health,
        reason,
        now=facts.size,
        then=then,
        moved_rows=moved,
        marked=facts.marked,
        columns=facts.columns,
        analyzed=facts.analyzed,
        analyzed_at_seconds=facts.analyzed_at_seconds,
        stale_since_ms=since,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """Sums over the partitions of one table that share a reason: the weights, and the weighted health.

    `rows` and `size_bytes` are sums over those partitions that know them.
    """

    reason: Reason
    partitions: int
    stale: int
    health: int
    knowing_rows: int = 0
    rows: int = 0
    health_by_rows: float = 0.0
    knowing_bytes: int = 0
    size_bytes: int = 0
    health_by_bytes: float = 0.0
    files: int = 0
    columns: int = 0
    analyzed: int = 0
    analyzed_at_seconds: int | None = None
    stale_since_ms: int | None = None


def merge_parts(parts: Iterable[Part]) -> Health:
    """The health of a table of its partitions': weighted by bytes if all know theirs, else by rows, else alike.

    The reason is the one by which most health is lost. A table without partitions is empty.
    """
    known = [each for each in parts if each.partitions]
    number = sum(each.partitions for each in known)
    if not number:
        return _WITHOUT_PARTITIONS
    by_bytes = sum(each.knowing_bytes for each in known) == number and sum(each.size_bytes for each in known) > 0
    by_rows = sum(each.knowing_rows for each in known) == number and sum(each.rows for each in known) > 0

    def weight(part: Part) -> tuple[float, float]:
        """The weight of partitions, and their weighted health."""
        if by_bytes:
            return part.size_bytes, part.health_by_bytes
        return (part.rows, part.health_by_rows) if by_rows else (part.partitions, part.health)

    lost = {each.reason: (own := weight(each))[0] * WHOLE - own[1] for each in known}
    whole = sum(weight(each)[0] for each in known)
    stale = sum(each.stale for each in known)
    health = int((whole * WHOLE - sum(lost.values())) / whole)
    analyzed = [each.analyzed_at_seconds for each in known if each.analyzed_at_seconds is not None]
    since = [each.stale_since_ms for each in known if each.stale_since_ms is not None]
    return Health(
        health=min(health, WHOLE - 1) if stale else WHOLE,
        reason=max(lost, key=lambda each: (lost[each], each)),
        now=Size(
            rows=sum(each.rows for each in known) if sum(each.knowing_rows for each in known) == number else None,
            files=sum(each.files for each in known),
            size_bytes=sum(each.size_bytes for each in known),
        ),
        then=Size(),
        moved_rows=0,
        marked=not stale,
        columns=max(each.columns for each in known),
        analyzed=min(each.analyzed for each in known),
        analyzed_at_seconds=min(analyzed, default=None),
        stale_since_ms=min(since, default=None),
        partitions=number,
        stale_partitions=stale,
    )


def _base(before: Health | None, facts: Facts) -> tuple[Size, int]:
    """The size when the statistics were made, and the changes of the number of rows since then."""
    if not facts.analyzed:
        return Size(), 0
    proven = facts.marked and facts.seen_rows is not None and facts.seen_rows == facts.size.rows
    size = facts.size if proven or facts.then is None else facts.then
    seen = size if facts.seen_rows is None else replace(size, rows=facts.seen_rows)
    if before is None or proven or _is_newer(facts, before):
        return seen, 0
    was, now = before.now.rows, facts.size.rows
    moved = 0 if was is None or now is None else abs(now - was)
    return before.then, before.moved_rows + moved


def _is_newer(facts: Facts, before: Health) -> bool:
    """Whether all columns have newer statistics than before."""
    old, new = before.analyzed_at_seconds, facts.analyzed_at_seconds
    return facts.rewritten or (new is not None and (old is None or new > old))


def _health_of(before: Health | None, facts: Facts, then: Size, moved: int) -> tuple[int, Reason]:
    if not facts.columns:
        return WHOLE, Reason.FRESH
    if not facts.analyzed:
        return (WHOLE, Reason.EMPTY) if _is_empty(facts) else (0, Reason.MISSING)
    share = _changed_share(facts, then, moved)
    health, reason = int(WHOLE * (1 - share)), Reason.CHANGED if share else Reason.FRESH
    if not share and _was_unmarked(before, facts):
        health, reason = UNMARKED_HEALTH, Reason.UNMARKED
    if facts.analyzed < facts.columns:
        return health * facts.analyzed // facts.columns, Reason.INCOMPLETE if reason is Reason.FRESH else reason
    return health, reason


def _is_empty(facts: Facts) -> bool:
    size = facts.size
    return size.size_bytes == 0 or size.files == 0 or (size.rows == 0 and facts.counted)


def _changed_share(facts: Facts, then: Size, moved: int) -> float:
    """The part of the rows that has changed since then, at most 1; 0 if nothing is known to have changed."""
    now = facts.size
    of_rows = _share(now.rows, then.rows, moved)
    if of_rows is not None and facts.counted:
        return of_rows
    of_bytes = _share(now.size_bytes, then.size_bytes)
    rest = _share(now.files, then.files) if of_bytes is None else of_bytes
    return max(of_rows or 0.0, rest or 0.0)


def _share(now: int | None, then: int | None, moved: int = 0) -> float | None:
    """The part of a count that has changed, at most 1; None if it is unknown."""
    if now is None or then is None:
        return None
    return min(max(abs(now - then), moved) / max(then, 1), 1.0)


def _was_unmarked(before: Health | None, facts: Facts) -> bool:
    """Whether the mark of accurate statistics was withdrawn after they were made."""
    if facts.marked:
        return False
    if facts.withdrawn:
        return True
    if before is not None and not _is_newer(facts, before) and (before.marked or before.reason is Reason.UNMARKED):
        return True
    changed, made = facts.changed_at_seconds, facts.analyzed_at_seconds
    if changed is None or made is None:
        return False
    is_known = before is not None and not _is_newer(facts, before)
    return changed > made or (changed == made and not is_known)
