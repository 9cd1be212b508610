"""The calls about statistics that are answered here, and the scope of each: the statistics that it is about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import SimpleNamespace
from typing import Any

from hmstats.model.catalog.names import database_name, table_name
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE

Arguments = Mapping[str, Any]


class AccessMode(Enum):
    """The kind of access to statistics by a call."""

    READ = auto()
    WRITE = auto()
    DELETE = auto()


@dataclass(frozen=True, slots=True)
class StatisticsScope:
    """The statistics that a call is about: those of a table itself, and of some partitions of it (None: of all)."""

    table: TableName
    own: bool
    partitions: tuple[str, ...] | None = ()
    columns: tuple[str, ...] | None = None
    """None: all columns."""
    engine: str = DEFAULT_ENGINE
    mode: AccessMode = AccessMode.READ


Find = Callable[[Arguments], StatisticsScope | None]
"""Finds the scope of a call; None if it is not about statistics of one table, or if its arguments are unreadable."""


def scope_of(name: str, arguments: Arguments) -> StatisticsScope | None:
    """The scope of a call of STATISTICS. None if the gateway should not answer the call."""
    try:
        return _FINDERS[name](arguments)
    except (AttributeError, TypeError):  # a required argument is missing: the side that answers the call reports it
        return None


def _name_of(database: str, table: str, catalog: str | None = None) -> TableName:
    return table_name(database, table, catalog)


def _lower(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if columns is None else tuple(each.lower() for each in columns)


def _request_fields(request: Any) -> dict[str, Any]:
    """The table, the columns and the engine of Hive's requests for statistics."""
    return {
        "table": _name_of(request.dbName, request.tblName, request.catName),
        "columns": _lower(request.colNames or []),
        "engine": request.engine or DEFAULT_ENGINE,
    }


def _of_table(arguments: Arguments) -> StatisticsScope:
    return StatisticsScope(**_request_fields(arguments["request"]), own=True)


def _of_partitions(arguments: Arguments) -> StatisticsScope:
    request = arguments["request"]
    return StatisticsScope(**_request_fields(request), own=False, partitions=tuple(request.partNames or ()))


def _column_of_table(arguments: Arguments) -> StatisticsScope:
    name = _name_of(arguments["db_name"], arguments["tbl_name"])
    return StatisticsScope(name, own=True, columns=(arguments["col_name"].lower(),))


def _column_of_partition(arguments: Arguments) -> StatisticsScope:
    name = _name_of(arguments["db_name"], arguments["tbl_name"])
    return StatisticsScope(name, False, (arguments["part_name"],), (arguments["col_name"].lower(),))


def _finder_for_own(mode: AccessMode = AccessMode.READ) -> Find:
    """The finder for a call of our own, whose scope is a table with all partitions unless it names some."""

    def find(arguments: Arguments) -> StatisticsScope:
        request = SimpleNamespace(**vars(arguments["request"]))
        names = getattr(request, "colNames", None)
        single = getattr(request, "colName", None)
        partitions = getattr(request, "partNames", None)
        return StatisticsScope(
            _name_of(request.dbName, request.tblName, request.catName),
            own=True,
            partitions=None if partitions is None else tuple(partitions),
            columns=(single.lower(),) if single else _lower(names),
            engine=getattr(request, "engine", None) or DEFAULT_ENGINE,
            mode=mode,
        )

    return find


def _object(arguments: Arguments) -> StatisticsScope | None:
    """The table, and the partition if there is one, that a lock or a preference is about."""
    request = arguments["request"]
    if not request.tblName:
        return None
    partitions = () if request.partName is None else (request.partName,)
    name = _name_of(request.dbName, request.tblName, request.catName)
    return StatisticsScope(name, own=True, partitions=partitions, columns=())


def _table(arguments: Arguments) -> StatisticsScope:
    """The table of a request that does not access statistics in force."""
    request = arguments["request"]
    return StatisticsScope(_name_of(request.dbName, request.tblName, request.catName), own=True, columns=())


def database_of(arguments: Arguments) -> DatabaseName | None:
    """The database of a call of OF_OBJECTS that names no table; None if the call is about everything."""
    request = arguments["request"]
    return database_name(request.dbName, request.catName) if request.dbName and not request.tblName else None


def _finder_for_write(path: str) -> Find:
    """The finder for a write: its request has one struct, or a list of them."""

    def find(arguments: Arguments) -> StatisticsScope | None:
        request = arguments[path]
        structs = [request] if hasattr(request, "statsDesc") else list(request.colStats or [])
        if not structs:
            return None
        first = structs[0].statsDesc
        engine = structs[0].engine or getattr(request, "engine", None) or DEFAULT_ENGINE
        names = tuple(dict.fromkeys(each.statsDesc.partName for each in structs if not each.statsDesc.isTblLevel))
        columns = tuple(dict.fromkeys(found.colName.lower() for each in structs for found in each.statsObj))
        table = _name_of(first.dbName, first.tableName, first.catName)
        return StatisticsScope(table, bool(first.isTblLevel), names, columns, engine, AccessMode.WRITE)

    return find


def _set_with_parameters(arguments: Arguments) -> StatisticsScope | None:
    request = arguments["request"]
    changes = request.parameters
    if changes is None:
        return _finder_for_write("request")(arguments)
    found = _finder_for_write("request")(arguments)
    table = _name_of(changes.dbName, changes.tblName, changes.catName)
    places = tuple(each.partName for each in changes.changes if each.partName is not None)
    if found is None:
        return StatisticsScope(table, True, places, (), mode=AccessMode.WRITE)
    names = tuple(dict.fromkeys((*(found.partitions or ()), *places)))
    return StatisticsScope(table, True, names, found.columns, found.engine, AccessMode.WRITE)


def _finder_for_deletion(*, own: bool) -> Find:
    def find(arguments: Arguments) -> StatisticsScope:
        name = _name_of(arguments["db_name"], arguments["tbl_name"])
        partitions = () if own else (arguments["part_name"],)
        columns = arguments["col_name"] and (arguments["col_name"].lower(),)
        return StatisticsScope(
            name, own, partitions, columns or None, arguments["engine"] or DEFAULT_ENGINE, AccessMode.DELETE
        )

    return find


def _deletion_request(arguments: Arguments) -> StatisticsScope:
    request = arguments["req"]
    name = _name_of(request.db_name, request.tbl_name, request.cat_name)
    own = bool(request.tableLevel)
    partitions = () if own else tuple(request.part_names or ()) or None
    columns = _lower(request.col_names or None)
    return StatisticsScope(name, own, partitions, columns, request.engine or DEFAULT_ENGINE, AccessMode.DELETE)


_FINDERS: Mapping[str, Find] = {
    "get_table_statistics_req": _of_table,
    "get_partitions_statistics_req": _of_partitions,
    "get_aggr_stats_for": _of_partitions,
    "get_table_column_statistics": _column_of_table,
    "get_partition_column_statistics": _column_of_partition,
    "get_distinct_count": _finder_for_own(),
    "get_quantiles": _finder_for_own(),
    "get_top_k": _finder_for_own(),
    "get_merged_statistics": _finder_for_own(),
    "get_provenance": _finder_for_own(),
    "get_statistics": _finder_for_own(),
    "get_arrow_statistics": _finder_for_own(),
    "get_statistics_history": _finder_for_own(),
    "get_past_statistics": _finder_for_own(),
    "restore_statistics": _finder_for_own(AccessMode.WRITE),
    "lock_statistics": _object,
    "unlock_statistics": _object,
    "change_preferences": _object,
    "get_pending_statistics": _table,
    "reject_statistics": _table,
    "publish_statistics": _table,
    "begin_statistics_run": _table,
    "get_partition_health": _table,
    "update_table_column_statistics": _finder_for_write("stats_obj"),
    "update_partition_column_statistics": _finder_for_write("stats_obj"),
    "update_table_column_statistics_req": _finder_for_write("req"),
    "update_partition_column_statistics_req": _finder_for_write("req"),
    "set_aggr_stats_for": _finder_for_write("request"),
    "set_statistics": _set_with_parameters,
    "delete_table_column_statistics": _finder_for_deletion(own=True),
    "delete_partition_column_statistics": _finder_for_deletion(own=False),
    "delete_column_statistics_req": _deletion_request,
}
STATISTICS = frozenset(_FINDERS)
"""The calls about statistics of a table."""

CARE = frozenset(
    {
        *("lock_statistics", "unlock_statistics", "change_preferences", "begin_statistics_run"),
        *("get_pending_statistics", "reject_statistics", "publish_statistics", "get_partition_health"),
    }
)
"""Our own calls about a table, which no Hive can answer."""

OF_OBJECTS = frozenset({"lock_statistics", "unlock_statistics", "change_preferences"})
"""Calls about a table, about a whole database, or about everything."""

RECORDS = frozenset(
    {
        *("begin_statistics_run", "renew_statistics_run", "end_statistics_run", "get_statistics_runs"),
        *("record_blame", "get_blame"),
        *("get_statistics_health", "get_partition_health"),
    }
)
"""Our own calls about health, runs and blame; an upstream that is an hmstats answers them about all of its tables."""

OURS_ALONE = frozenset(
    {
        *("check_access", "get_statistics_locks", "get_preferences", "list_pending_statistics"),
        *("put_partial_states", "get_partial_states", "remove_partial_states"),
    }
)
"""Our own calls that never need the upstream."""
