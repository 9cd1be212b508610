"""Removes from answers the objects that the user may not see, and the statistics that the user may not read.

A filter gets the answer from `ask`, which runs the call with the current arguments.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from hmstats.errors import UsedInViews
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import THE_SERVER, ObjectName
from hmstats.model.catalog.names import split_database
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.access.needs import Arguments, catalog_of, database_of, parts, table_of
from hmstats.wire.events.read_messages import FOREIGN_KEYS, UNREADABLE, tables_of_foreign_keys

COLUMN_PARAMETERS = "spark.sql.statistics.colStats."
"""Parameters in which Spark keeps statistics of columns."""

_HIDDEN_PAGES = 100
"""The most pages that are skipped for one call, so that pages of one entry cost a server little."""
_HIDDEN_EVENTS = 1_000
"""The size of the next page of events, after one with no readable event."""
_LIST_ENTRIES = 1_000
"""The most runs of an answer, and the number of them if the client gives none."""
Ask: TypeAlias = Callable[[], Any]


class Sees(Protocol):
    """Tells whether the user may take an action on an object."""

    def __call__(self, action: Action, name: ObjectName) -> bool:
        """Whether the user may take the action."""


Filter: TypeAlias = Callable[[Ask, dict[str, Any], Sees], Any]


def databases_by_pattern(ask: Ask, arguments: Arguments, sees: Sees) -> list[str]:
    """The names of databases that may be listed."""
    catalog = catalog_of(arguments.get("pattern"))
    return [each for each in ask() if sees(Action.LIST, (catalog, each.lower()))]


def databases(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001 - all filters have the same arguments
    """GetDatabaseObjectsResponse with the databases that may be read."""
    answer = ask()
    answer.databases = [
        each for each in answer.databases if sees(Action.READ, database_of(each.name, each.catalogName))
    ]
    return answer


def catalogs(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """GetCatalogsResponse with the catalogs that may be listed."""
    answer = ask()
    answer.names = [each for each in answer.names if sees(Action.LIST, (each.lower(),))]
    return answer


def names_in(argument: str, action: Action = Action.LIST) -> Filter:
    """Names of tables or functions in the database that an argument names."""

    def filtered(ask: Ask, arguments: dict[str, Any], sees: Sees) -> Any:
        found = ask()
        if not found:
            return found
        database = database_of(arguments[argument])
        return [each for each in found if sees(action, (*database, each.lower()))]

    return filtered


def names_by_filter(ask: Ask, arguments: dict[str, Any], sees: Sees) -> list[str]:
    """Names of tables that may be read, as many as requested: the matches of a filter reveal parameters."""
    most, arguments["max_tables"] = arguments["max_tables"], -1
    names = ask()
    visible = [each for each in names if sees(Action.READ, table_of(arguments["dbname"], each))]
    return visible if most is None or most < 0 else visible[:most]


def extended_tables(ask: Ask, arguments: dict[str, Any], sees: Sees) -> list[Any]:
    """ExtendedTableInfo structs, as many as the request wants of those that may be listed."""
    request = arguments["req"]
    most, request.limit = request.limit, None
    database = database_of(request.database, request.catalog)
    visible = [each for each in ask() if sees(Action.LIST, (*database, each.tblName.lower()))]
    return visible if most is None or most < 0 else visible[:most]


def summaries(ask: Ask, arguments: Arguments, sees: Sees) -> list[Any]:
    """TableMeta structs of tables that may be listed; tables that may not be read have no comments."""
    patterns = arguments.get("db_patterns")
    catalog = DEFAULT_CATALOG if patterns is None else split_database(patterns)[0]
    named = ((each, table_of(each.dbName, each.tableName, each.catName or catalog)) for each in ask())
    visible = [(each, name) for each, name in named if sees(Action.LIST, name)]
    for each, name in visible:
        if not sees(Action.READ, name):
            each.comments = None
    return [each for each, _ in visible]


def one_table(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """A Table struct, without the statistics and source tables that may not be read."""
    table = ask()
    return _hide_unreadable(table, _name(table), sees)


def table_result(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """A GetTableResult, without the statistics and source tables that may not be read."""
    answer = ask()
    answer.table = _hide_unreadable(answer.table, _name(answer.table), sees)
    return answer


def tables(ask: Ask, arguments: Arguments, sees: Sees) -> list[Any]:  # noqa: ARG001
    """Table structs that may be read."""
    named = ((each, _name(each)) for each in ask())
    return [_hide_unreadable(each, name, sees) for each, name in named if sees(Action.READ, name)]


def tables_result(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """GetTablesResult with the tables that may be read.

    The database of the request may be a pattern, so each table's own database is checked. Names that are missing in the
    request's projection are requested too, and stay in the answer.
    """
    request = arguments["req"]
    catalog, _ = database_of(request.dbName, request.catName)
    fields = (request.projectionSpec.fieldList or []) if request.projectionSpec else []
    if fields:
        request.projectionSpec.fieldList = [*fields, "dbName", "tableName"]
    answer = ask()
    named = [(each, (catalog, each.dbName.lower(), each.tableName.lower())) for each in answer.tables]
    answer.tables = [_hide_unreadable(each, name, sees) for each, name in named if sees(Action.READ, name)]
    return answer


def functions(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """A response with functions: the names of those that may be listed, or structs of those that may be read."""
    answer = ask()
    if getattr(answer, "function_names", None) is not None:
        request = arguments["request"]
        database = database_of(request.dbName, request.catalogName)
        answer.function_names = [each for each in answer.function_names if sees(Action.LIST, (*database, each.lower()))]
    if answer.functions is not None:
        answer.functions = [
            each
            for each in answer.functions
            if sees(Action.READ, table_of(each.dbName, each.functionName, each.catName))
        ]
    return answer


def refused_drop(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """The answer to a drop; a refusal for materialized views names those that may be listed."""
    try:
        return ask()
    except UsedInViews as error:
        visible = [each for each in error.views if sees(Action.LIST, each)]
        raise UsedInViews(visible, more=len(visible) < len(error.views)) from error


def foreign_keys(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """ForeignKeysResponse with the keys of tables that may be read, which refer to tables that may be listed."""
    answer = ask()
    answer.foreignKeys = _visible_keys(answer.foreignKeys, sees)
    return answer


def all_constraints(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """AllTableConstraintsResponse without foreign keys that refer to tables that may not be listed."""
    answer = ask()
    answer.allTableConstraints.foreignKeys = _visible_keys(answer.allTableConstraints.foreignKeys, sees)
    return answer


def locks(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """ShowLocksResponse with the locks of objects that may be listed."""
    answer = ask()
    answer.locks = [each for each in answer.locks if sees(Action.LIST, _locked_object(each))]
    return answer


def lock_answer(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """LockResponse. It may wait for a hidden table if a whole database is locked, so only admins see the reason."""
    answer = ask()
    of_databases = any(not each.tablename for each in arguments["rqst"].component)
    if answer.errorMessage and of_databases and not sees(Action.ADMIN, THE_SERVER):
        answer.errorMessage = "the lock would have to wait for another lock"
    return answer


def statistics_locks(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """StatisticsLocksResult with the locks of objects that may be listed."""
    answer = ask()
    answer.locks = [each for each in answer.locks if sees(Action.LIST, _statistics_of(each))]
    return answer


def preferences(ask: Ask, arguments: Arguments, sees: Sees) -> Any:  # noqa: ARG001
    """PreferencesResult with the preferences of everything, and of objects that may be listed."""
    answer = ask()
    answer.preferences = [
        each for each in answer.preferences if not each.dbName or sees(Action.LIST, _statistics_of(each))
    ]
    return answer


def statistics_runs(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """RunsResult with the runs and leases of tables whose statistics may be read.

    It has as many runs as requested: a client takes a shorter list for the end of all.
    """
    request, answer = arguments["request"], ask()
    visible, page = _with_statistics(answer.runs, sees), answer.runs
    wanted = full = request.most or _LIST_ENTRIES
    request.most = None
    for _ in range(_HIDDEN_PAGES):
        if len(visible) >= wanted or len(page) < full:
            break
        known = {each.runId for each in page}
        request.startedBefore = page[-1].startedAt + 1  # more may have begun in the same millisecond
        page, full = ask().runs, _LIST_ENTRIES
        visible += _with_statistics([each for each in page if each.runId not in known], sees)
    answer.runs, answer.leases = visible[:wanted], _with_statistics(answer.leases, sees)
    return answer


def blame(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """BlameResult with the sums of tables whose statistics may be read, chosen from the largest of all tables."""
    request, answer = arguments["request"], ask()
    told, wanted = answer.sums, request.most
    answer.sums = _visible_sums(told, sees)
    if wanted is not None and len(answer.sums) < len(told) == wanted:  # hidden tables have taken places
        request.most = None
        answer.sums = _visible_sums(ask().sums, sees)[:wanted]
    return answer


def _visible_sums(sums: Iterable[Any], sees: Sees) -> list[Any]:
    named = ((each, table_of(each.worst.dbName, each.worst.tblName, each.worst.catName)) for each in sums)
    return [each for each, name in named if sees(Action.READ_STATISTICS, name)]


def statistics_health(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """HealthResult with the health of tables whose statistics may be read; its page may be shorter for that.

    Pages without any readable entry are skipped, since their cursors would reveal that something exists. A cursor
    contains the health of the last table of its page, so a page ends with one that may be read.
    """
    request = arguments["request"]
    for _ in range(_HIDDEN_PAGES):
        answer = ask()
        names = [table_of(each.dbName, each.tblName, each.catName) for each in answer.health]
        visible = [sees(Action.READ_STATISTICS, each) for each in names]
        answer.health = [each for each, is_visible in zip(answer.health, visible, strict=True) if is_visible]
        if answer.nextPage is None or (visible and visible[-1]):
            break
        if answer.health:
            request.most = len(visible) - visible[::-1].index(True)
        else:
            request.after = answer.nextPage
    return answer


def history(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """StatisticsHistoryResult with the writes of the table under those of its names whose statistics may be read."""
    answer, catalog = ask(), arguments["request"].catName
    named = [(each, table_of(each.dbName, each.tblName, catalog)) for each in answer.writes]
    answer.writes = [each for each, name in named if sees(Action.READ_STATISTICS, name)]
    return answer


def pending_statistics(ask: Ask, arguments: Arguments, sees: Sees) -> Any:
    """PendingResult with the tables whose statistics may be read, since a reason may contain bounds."""
    answer, catalog = ask(), arguments["request"].catName
    answer.owners = [
        each for each in answer.owners if sees(Action.READ_STATISTICS, table_of(each.dbName, each.tblName, catalog))
    ]
    return answer


def privileges(ask: Ask, arguments: Arguments, sees: Sees) -> list[Any]:  # noqa: ARG001
    """HiveObjectPrivilege structs on objects that may be listed."""
    return [each for each in ask() if _may_see(each.hiveObject, sees)]


def notifications(ask: Ask, arguments: dict[str, Any], sees: Sees) -> Any:
    """NotificationEventResponse with the events of objects whose notifications may be read.

    A client continues after the last event that it received. So if a page has no readable event, the next page is read,
    a large one since the log may be long.
    """
    request = arguments["rqst"]
    most = request.maxEvents if request.maxEvents and request.maxEvents > 0 else None
    while True:
        answer = ask()
        visible = [each for each in answer.events if _may_read_event(each, sees)]
        if visible or most is None or len(answer.events) < request.maxEvents:
            answer.events = visible[:most]
            return answer
        request.lastEvent = answer.events[-1].eventId
        request.maxEvents = max(most, _HIDDEN_EVENTS)


def _may_read_event(event: Any, sees: Sees) -> bool:
    """Whether a user may read an event. One of foreign keys is about the referenced table, and names others too."""
    if not sees(Action.READ_NOTIFICATIONS, _object_of(event)):
        return False
    if event.eventType != FOREIGN_KEYS:
        return True
    try:
        return all(sees(Action.LIST, parts(each)) for each in tables_of_foreign_keys(event))
    except UNREADABLE:
        return False


def _object_of(event: Any) -> ObjectName:
    """The object of an event; the server if it is about no object."""
    if not event.dbName:
        return (event.catName.lower(),) if event.catName else THE_SERVER
    database = database_of(event.dbName, event.catName)
    return (*database, event.tableName.lower()) if event.tableName else database


def _with_statistics(named: Iterable[Any], sees: Sees) -> list[Any]:
    """The structs that name a table whose statistics may be read."""
    pairs = ((each, table_of(each.dbName, each.tblName, each.catName)) for each in named)
    return [each for each, name in pairs if sees(Action.READ_STATISTICS, name)]


def _locked_object(lock: Any) -> ObjectName:
    if not lock.dbname:
        return THE_SERVER
    return table_of(lock.dbname, lock.tablename) if lock.tablename else database_of(lock.dbname)


def _statistics_of(named: Any) -> ObjectName:
    if not named.tblName:
        return database_of(named.dbName, named.catName)
    return table_of(named.dbName, named.tblName, named.catName)


def _may_see(reference: Any, sees: Sees) -> bool:
    if not reference.dbName:
        return True
    database = database_of(reference.dbName, reference.catName)
    return sees(Action.LIST, (*database, reference.objectName.lower()) if reference.objectName else database)


def _visible_keys(keys: Iterable[Any] | None, sees: Sees) -> list[Any]:
    return [
        each
        for each in keys or ()
        if sees(Action.READ, table_of(each.fktable_db, each.fktable_name, each.catName))
        and sees(Action.LIST, table_of(each.pktable_db, each.pktable_name, each.catName))
    ]


def _name(table: Any) -> ObjectName:
    return table_of(table.dbName, table.tableName, table.catName)


def _hide_unreadable(struct: Any, name: ObjectName, sees: Sees) -> Any:
    """A Table struct, without the statistics and source tables that may not be read.

    The source tables of a materialized view are whole Table structs, so they are filtered too.
    """
    creation = struct.creationMetadata
    if creation is not None and creation.sourceTables:
        named = [(each, _name(each.table)) for each in creation.sourceTables]
        creation.sourceTables = [each for each, source in named if sees(Action.READ, source)]
        for each in creation.sourceTables:
            _hide_unreadable(each.table, _name(each.table), sees)
    if sees(Action.READ_STATISTICS, name):
        return struct
    struct.colStats = None
    if struct.parameters:
        struct.parameters = {
            key: value for key, value in struct.parameters.items() if not key.startswith(COLUMN_PARAMETERS)
        }
    return struct
