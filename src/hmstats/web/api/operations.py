"""The operations of the API, in the order in which its description lists them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hmstats.client import Metastore
from hmstats.model.health.runs import Outcome
from hmstats.web.answers.access import Access
from hmstats.web.answers.feedback import Feedback
from hmstats.web.answers.health import HealthList
from hmstats.web.answers.history import Course, Difference, RestoreResult, Versions
from hmstats.web.answers.locks import AllLocks, Locks
from hmstats.web.answers.partitions import PartitionCells, PartitionList
from hmstats.web.answers.pending import PendingList, PendingTable
from hmstats.web.answers.plan import RefreshPlan
from hmstats.web.answers.runs import RunList
from hmstats.web.answers.tables import ColumnPage, Databases, TableFacts, TableList
from hmstats.web.api.parameters import Arguments, Parameter
from hmstats.web.api.path_names import column_in_path
from hmstats.web.reading.access import access
from hmstats.web.reading.columns.column_page import column_page
from hmstats.web.reading.feedback import PAGE_LINES, feedback
from hmstats.web.reading.lists.health_list import health_list
from hmstats.web.reading.lists.run_list import PAGE_RUNS, run_list
from hmstats.web.reading.lists.table_list import PAGE_TABLES, databases, table_list
from hmstats.web.reading.locks import every_lock, table_locks
from hmstats.web.reading.partition_cells import (
    PAGE_PARTITIONS,
    Partitions,
    partition_cells,
    partition_list,
    read_partitions,
)
from hmstats.web.reading.past.change import restored, table_difference
from hmstats.web.reading.past.versions import MOST_MOMENTS, PAGE_VERSIONS, table_course, table_versions
from hmstats.web.reading.pending import PAGE_PENDING, every_pending, table_pending
from hmstats.web.reading.plan import PAGE_TABLES as PLAN_TABLES
from hmstats.web.reading.plan import refresh_plan
from hmstats.web.reading.table_facts import PAGE_COLUMNS, table_facts

PREFIX = "/api/v1"

_TABLE = Parameter(name="table", place="path", description="The table, as DB.TABLE or CATALOG.DB.TABLE.")
_COLUMN = Parameter(
    name="column",
    place="path",
    description="The column or partition key; `.` and `..` in backquotes, since clients take them for folders.",
)
_AFTER = Parameter(name="after", description="The cursor of the page before, `next` in its answer.")
_TIME = Parameter(
    name="as_of", kind="time", description="The time whose numbers are wanted: ISO 8601, or so long ago, as `2h ago`."
)
_RANGE = (
    Parameter(name="from", description="Only partitions from this name on, in the order of their keys' values."),
    Parameter(name="to", description="Only partitions up to this name, which is included."),
    Parameter(name="where", description="Only partitions that match this filter over the keys, in Hive's language."),
    _TIME,
)
_OF_COLUMN = Parameter(name="column", description="Only what is about this column.")


def _limit(of: str, default: int) -> Parameter:
    return Parameter(
        name="limit", kind="integer", least=1, most=500, default=default, description=f"The most {of} in the answer."
    )


@dataclass(frozen=True, slots=True)
class Operation:
    """A question: its path below the prefix, its name and sentence, its parameters, and the type of its answer."""

    path: str
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: type[Any]
    read: Callable[[Metastore, Arguments], Any]


def _partitions(service: Metastore, given: Arguments) -> Partitions:
    return read_partitions(service, given.required("table"), given.selection)


OPERATIONS = (
    Operation(
        "/databases",
        "listDatabases",
        "The databases of the default catalog.",
        (),
        Databases,
        lambda service, _: databases(service),
    ),
    Operation(
        "/tables",
        "listTables",
        "Tables and views, in the order of database and name.",
        (
            Parameter(name="q", description="Only those whose names contain this; DB.TABLE, or a part of it."),
            Parameter(name="database", description="Only those of this database."),
            _AFTER,
            _limit("tables", PAGE_TABLES),
        ),
        TableList,
        lambda service, given: table_list(
            service,
            search=given.text("q") or "",
            database=given.text("database"),
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/health",
        "listHealth",
        "Tables by the health of their statistics, the worst first.",
        (
            Parameter(name="database", description="Only those of this database."),
            Parameter(name="below", kind="integer", least=1, most=100, description="Only those with less health."),
            _AFTER,
            _limit("tables", PAGE_TABLES),
        ),
        HealthList,
        lambda service, given: health_list(
            service,
            given.text("database"),
            below=given.optional_number("below"),
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/tables/{table}",
        "getTable",
        "A table, or some of its partitions together, with a page of its columns.",
        (_TABLE, *_RANGE, _AFTER, _limit("columns", PAGE_COLUMNS)),
        TableFacts,
        lambda service, given: table_facts(
            service,
            given.required("table"),
            given.selection,
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/tables/{table}/partitions",
        "listPartitions",
        "The partitions of a table with their counts, in the order of their keys' values.",
        (_TABLE, *_RANGE, _AFTER, _limit("partitions", PAGE_PARTITIONS)),
        PartitionList,
        lambda service, given: partition_list(
            service,
            _partitions(service, given),
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/tables/{table}/partition-cells",
        "getPartitionCells",
        "The partitions of a table, merged into at most 400 cells.",
        (_TABLE, *_RANGE),
        PartitionCells,
        lambda service, given: partition_cells(service, _partitions(service, given)),
    ),
    Operation(
        "/tables/{table}/columns/{column}",
        "getColumn",
        "A column of a table, or of some of its partitions together.",
        (_TABLE, _COLUMN, *_RANGE),
        ColumnPage,
        lambda service, given: column_page(
            service, given.required("table"), column_in_path(given.required("column")), given.selection
        ),
    ),
    Operation(
        "/tables/{table}/history",
        "listVersions",
        "The writes of a table's statistics, newest first.",
        (_TABLE, _OF_COLUMN, _AFTER, _limit("writes", PAGE_VERSIONS)),
        Versions,
        lambda service, given: table_versions(
            service,
            given.required("table"),
            given.text("column"),
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/tables/{table}/course",
        "getCourse",
        "How a table's numbers went over its last writes, and those of a column.",
        (_TABLE, _OF_COLUMN, _limit("writes", MOST_MOMENTS)),
        Course,
        lambda service, given: table_course(
            service, given.required("table"), given.text("column"), limit=given.number("limit")
        ),
    ),
    Operation(
        "/tables/{table}/diff",
        "getDifference",
        "What changed between two times beyond the stated errors, the largest factor first.",
        (
            _TABLE,
            Parameter(name="from", kind="time", description="The first time; without it, before the last write."),
            Parameter(name="to", kind="time", description="The second time; now without it."),
        ),
        Difference,
        lambda service, given: table_difference(service, given.required("table"), given.text("from"), given.text("to")),
    ),
    Operation(
        "/tables/{table}/restore",
        "previewRestore",
        "What a restore would change.",
        (_TABLE, replace(_TIME, required=True)),
        RestoreResult,
        lambda service, given: restored(service, given.required("table"), given.required("as_of"), dry_run=True),
    ),
    Operation("/locks", "listLocks", "Every lock on statistics.", (), AllLocks, lambda service, _: every_lock(service)),
    Operation(
        "/tables/{table}/lock",
        "getLocks",
        "The locks that cover a table's statistics or some of them.",
        (_TABLE,),
        Locks,
        lambda service, given: table_locks(service, given.required("table")),
    ),
    Operation(
        "/pending",
        "listPending",
        "Pending statistics, which are not in force until they are published.",
        (_AFTER, _limit("lines", PAGE_PENDING)),
        PendingList,
        lambda service, given: every_pending(service, after=given.text("after"), limit=given.number("limit")),
    ),
    Operation(
        "/tables/{table}/pending",
        "getPending",
        "The pending statistics of a table, and what they would change.",
        (_TABLE,),
        PendingTable,
        lambda service, given: table_pending(service, given.required("table")),
    ),
    Operation(
        "/runs",
        "listRuns",
        "Runs that refresh statistics, newest first.",
        (
            Parameter(name="table", description="Only those of this table, as DB.TABLE."),
            Parameter(
                name="outcome", choices=tuple(Outcome), description="Only those that ended so, or are under way."
            ),
            _AFTER,
            _limit("runs", PAGE_RUNS),
        ),
        RunList,
        lambda service, given: run_list(
            service,
            given.text("table"),
            outcome=given.text("outcome"),
            after=given.text("after"),
            limit=given.number("limit"),
        ),
    ),
    Operation(
        "/plan",
        "getRefreshPlan",
        "What a refresh would analyse, the largest gain a second first, and why.",
        (
            Parameter(name="tables", description="Only these: DB or DB.TABLE, where * stands for any characters."),
            Parameter(name="budget", description="The time for the round, such as 30m; no limit without it."),
            _limit("tables of least health", PLAN_TABLES),
        ),
        RefreshPlan,
        lambda service, given: refresh_plan(
            service, given.text("tables"), budget=given.text("budget"), limit=given.number("limit")
        ),
    ),
    Operation(
        "/feedback",
        "getFeedback",
        "Tables and columns that are to blame for wrong estimates of queries, the greatest weight first.",
        (
            Parameter(name="table", description="Only this table, as DB.TABLE."),
            Parameter(name="since", kind="time", description="Only queries since this time, the last 7 days without."),
            _limit("lines", PAGE_LINES),
        ),
        Feedback,
        lambda service, given: feedback(
            service, given.text("table"), since=given.text("since"), limit=given.number("limit")
        ),
    ),
    Operation(
        "/access",
        "getAccess",
        "What a user may do with an object, and by which access rules.",
        (
            Parameter(
                name="object", description="CATALOG, CATALOG.DB or CATALOG.DB.TABLE; the server itself without it."
            ),
            Parameter(name="user", description="The user, whoever asks without it; others are for admins."),
            Parameter(name="groups", description="Groups of that user beside those of the rules, by commas."),
        ),
        Access,
        lambda service, given: access(
            service, given.text("object"), user=given.text("user"), groups=given.text("groups")
        ),
    ),
)
