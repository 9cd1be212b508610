"""Events, which describe changes of the catalog.

Services record events; the log stores each as a Notification, which has the text of its message.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.functions import Function, FunctionName
from hmstats.model.catalog.objects import Database, Parameters, Partition, Table, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet

_MOST_PARTITIONS = 5_000
"""In one event. Clients of Hive refuse frames of more than 16 MB, and a message is in memory as a whole."""


@dataclass(frozen=True, slots=True)
class DatabaseCreated:
    """A database was made."""

    database: Database


@dataclass(frozen=True, slots=True)
class DatabaseAltered:
    """A database was changed."""

    before: Database
    after: Database


@dataclass(frozen=True, slots=True)
class DatabaseDropped:
    """A database was dropped; its content was dropped before, with events of its own."""

    database: Database


@dataclass(frozen=True, slots=True)
class TableCreated:
    """A table was made."""

    table: Table


@dataclass(frozen=True, slots=True)
class TableAltered:
    """A table was changed, perhaps its name too; `truncated`: its rows were removed."""

    before: Table
    after: Table
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class TableDropped:
    """A table was dropped, with all its partitions."""

    table: Table


@dataclass(frozen=True, slots=True)
class PartitionsAdded:
    """Partitions were added to a table."""

    table: Table
    partitions: Sequence[Partition]

    @classmethod
    def of(cls, table: Table, added: Sequence[Partition]) -> "Iterator[PartitionsAdded]":
        """Events of partitions that were added at once, each of so many that its message has a few megabytes."""
        for start in range(0, len(added), _MOST_PARTITIONS):
            yield cls(table, added[start : start + _MOST_PARTITIONS])


@dataclass(frozen=True, slots=True)
class PartitionAltered:
    """A partition was changed, perhaps its values too; `truncated`: its rows were removed."""

    table: Table
    before: Partition
    after: Partition
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PartitionsDropped:
    """Partitions of a table were dropped."""

    table: Table
    partitions: Sequence[Partition]


@dataclass(frozen=True, slots=True)
class Inserted:
    """Files were added to a table or to one of its partitions; `replacing`: the old files were removed."""

    table: Table
    partition: Partition | None
    files: Sequence[str]
    replacing: bool = False


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Cached metadata of a table or a partition must be reloaded (`refresh`), or dropped."""

    table: Table
    partition: Partition | None
    refresh: bool


@dataclass(frozen=True, slots=True)
class StatisticsUpdated:
    """Column statistics of a table, or of its partition with these values, were written.

    `parameters` are those of the table or of the partition afterwards.
    """

    table: Table
    statistics: StatisticsSet
    parameters: Parameters
    values: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class StatisticsDeleted:
    """Statistics of a column were deleted, or of every column (None), of a table or of a partition of this name."""

    table: TableName
    column: str | None
    partition: str | None = None
    values: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FunctionCreated:
    """A function was made."""

    function: Function


@dataclass(frozen=True, slots=True)
class FunctionDropped:
    """A function was dropped."""

    name: FunctionName


@dataclass(frozen=True, slots=True)
class ConstraintsAdded:
    """Constraints were added, all of one kind; there is at least one."""

    constraints: Sequence[ColumnConstraint]


@dataclass(frozen=True, slots=True)
class ConstraintDropped:
    """A constraint of a table was dropped."""

    table: TableName
    name: str


Event = (
    DatabaseCreated
    | DatabaseAltered
    | DatabaseDropped
    | TableCreated
    | TableAltered
    | TableDropped
    | PartitionsAdded
    | PartitionAltered
    | PartitionsDropped
    | Inserted
    | Reloaded
    | StatisticsUpdated
    | StatisticsDeleted
    | FunctionCreated
    | FunctionDropped
    | ConstraintsAdded
    | ConstraintDropped
)


@dataclass(frozen=True, slots=True)
class Notification:
    """An event as the log stores it: its type, its objects, and the message in the named format."""

    type: str
    catalog: str
    database: str
    table: str | None
    message: str
    format: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A notification in the log. Ids follow each other without a gap in the order in which changes were committed."""

    id: int
    time_seconds: int
    notification: Notification


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFilter:
    """A filter for notifications: after an id, up to another, and by their objects and types.

    An empty sequence and None match anything.
    """

    after: int
    until: int | None = None
    catalog: str | None = None
    database: str | None = None
    tables: Sequence[str] = ()
    types: Sequence[str] = ()
    other_types: Sequence[str] = ()
