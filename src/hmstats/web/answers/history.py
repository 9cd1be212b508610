"""Earlier statistics: when they were written, what changed, and what came back."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.numbers import Number, Scalar, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A write of statistics. `table` is the name that the table had before it.

    `kinds` are columns, parameters, dropped or renamed. `columns` are empty if all of them, or none, were written;
    `partitions` are empty if it was about the table itself.
    """

    at: datetime
    table: str
    kinds: tuple[str, ...]
    writer: str | None = None
    call: str | None = None
    columns: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The last writes of a table, newest first; `next` is the cursor of older ones."""

    table: str
    column: str | None = None
    versions: tuple[Version, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A table's numbers from a time on; of the column, if the question was about one."""

    at: datetime
    rows: Number | None = None
    size_bytes: Number | None = None
    column: ColumnFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The course of a table's numbers, oldest first: a moment for each of its last writes, and one before them.

    `oldest` is the oldest time that can be asked for, `history_bytes` what the history of all tables takes.
    """

    table: str
    column: str | None = None
    moments: tuple[Moment, ...]
    oldest: datetime
    history_bytes: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A number that changed beyond its stated error; absent on the side where it was not known.

    `factor` is the greater count divided by the smaller one; absent for what has no factor, comes or goes.
    """

    partition: str | None = None
    engine: str | None = None
    column: str | None = None
    statistic: str
    before: Scalar | None = None
    after: Scalar | None = None
    factor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedColumn:
    """A column before and after; absent on the side where the table was not there."""

    name: str
    before: ColumnFacts | None = None
    after: ColumnFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed in a table's statistics between two times, the largest factor first; at most 500 changes.

    `columns` are the first eight that changed, as they were for the whole table.
    """

    table: str
    begin: datetime
    end: datetime
    changed: int
    changes: tuple[Change, ...]
    columns: tuple[ChangedColumn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What a restore has changed, or would change.

    `written` and `removed` count columns' statistics of the table and of each partition, `parameters` tables and
    partitions whose parameters changed; `unmarked` of these are not marked accurate, since their files have changed.
    """

    table: str
    at: datetime
    done: bool
    written: int
    removed: int
    parameters: int
    unmarked: int
