"""The rule of each RPC: its action, the arguments that name objects, and the filter of its answer.

A call without an entry needs `admin` of the server. Calls that are allowed to everybody are in _OPEN: they concern the
connection, or return nothing that is stored. Those of delegation tokens are included, as they check the caller.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import THE_SERVER, Identity, ObjectName
from hmstats.model.catalog.constraints import ConstraintKind
from hmstats.model.catalog.names import table_name
from hmstats.model.parameters.statistics_keys import is_of_statistics
from hmstats.server.access import filters
from hmstats.server.access.filters import Filter
from hmstats.server.access.needs import (
    Arguments,
    Extent,
    FindNeeds,
    Need,
    asked_object,
    database_of,
    function_of,
    on_catalog,
    on_database,
    on_server,
    on_table,
    parts,
    somewhere,
    table_of,
    tables_of,
    together,
    value_at,
)
from hmstats.wire.catalog.constraints import LISTS, constraints_from_thrift
from hmstats.wire.catalog.objects import creation_from_thrift
from hmstats.wire.idl import hive_metastore
from hmstats.wire.privileges import secured_from_thrift
from hmstats.wire.transactions import full_table_name

_USER = hive_metastore.PrincipalType.USER
_WILDCARDS = frozenset("*|")
_NO_DATABASE = "Could not find database {}"


@dataclass(frozen=True, slots=True)
class CallRule:
    """The rule of a call; without `needs`, only its answer is filtered. `missing` is the text about a hidden object."""

    needs: FindNeeds | None = None
    shown: Filter | None = None
    missing: str | None = None


def _rules_for(names: str, needs: FindNeeds | None = None, shown: Filter | None = None) -> dict[str, CallRule]:
    return {name: CallRule(needs, shown) for name in names.split()}


def _foreign_needs(arguments: Arguments, catalog: str | None, created: Any = None) -> Iterable[Need]:
    """The needs of constraints: to alter each table, except the one being created; to list the referenced tables."""
    for field, kind in LISTS.items():
        yield from _of_constraints(kind, arguments.get(field), catalog, created)


def _of_constraints(kind: ConstraintKind, structs: Any, catalog: str | None, created: Any = None) -> Iterable[Need]:
    for each in constraints_from_thrift(kind, structs, catalog):
        if each.table != created:
            yield Need(Action.ALTER, parts(each.table))
        if each.reference is not None:
            yield Need(Action.LIST, parts(each.reference.table))


def _constraints(kind: ConstraintKind, path: str) -> CallRule:
    return CallRule(lambda arguments, _: list(_of_constraints(kind, getattr(arguments["req"], path), None)))


def _create_table(struct: Any, lists: Arguments) -> Iterable[Need]:
    yield Need(Action.CREATE, table_of(struct.dbName, struct.tableName, struct.catName))
    yield from _brought_needs(parts(created := table_name(struct.dbName, struct.tableName, struct.catName)), [struct])
    yield from _foreign_needs(lists, struct.catName, created)
    yield from _source_needs(struct.creationMetadata, struct.catName)


def _brought_needs(table: ObjectName, structs: Iterable[Any] | None) -> Iterable[Need]:
    """The need to write statistics of a table, if structs of new objects contain some."""
    if any(each is not None and each.colStats is not None for each in structs or ()):
        yield Need(Action.WRITE_STATISTICS, table)


def _added(structs: Iterable[Any] | None) -> Iterable[Need]:
    """The need to alter the table of each new partition, or specification of partitions."""
    for each in structs or ():
        if each is not None:
            table = table_of(each.dbName, each.tableName, each.catName)
            yield Need(Action.ALTER, table)
            listed = getattr(each, "partitionList", None)
            yield from _brought_needs(table, [each] if hasattr(each, "colStats") else listed and listed.partitions)


def _add_partitions_req(request: Any) -> Iterable[Need]:
    table = table_of(request.dbName, request.tblName, request.catName)
    yield Need(Action.ALTER, table)
    yield from _brought_needs(table, request.parts)


def _source_needs(creation: Any, catalog: str | None) -> Iterable[Need]:
    """The needs to list the source tables of a materialized view."""
    if creation is not None:
        yield from (Need(Action.LIST, parts(each.name)) for each in creation_from_thrift(creation, catalog).sources)


def _update_creation(arguments: Arguments) -> Iterable[Need]:
    yield Need(Action.ALTER, table_of(arguments["dbname"], arguments["tbl_name"], arguments["catName"]))
    yield from _source_needs(arguments["creation_metadata"], arguments["catName"])


def _alter_table(database: Any, table: Any, catalog: Any, new: Any) -> Iterable[Need]:
    """The needs to alter a table, and to create it under its new name, maybe in another database, if that differs."""
    old = table_of(database, table, catalog)
    yield Need(Action.ALTER, old, Extent.OR_STATISTICS)
    if new.dbName and new.tableName:
        named = table_of(new.dbName, new.tableName, new.catName or old[0])
        if named != old:
            yield Need(Action.ALTER, old)
            yield Need(Action.CREATE, named)


def _alter_database(name: str | None, new: Any) -> Iterable[Need]:
    old = database_of(name)
    yield Need(Action.ALTER, old)
    if new.name and (named := database_of(new.name, new.catalogName)) != old:
        yield Need(Action.CREATE, named)


def _drop_database(name: str | None, catalog: str | None, *, cascade: bool) -> Iterable[Need]:
    yield Need(Action.DROP, database_of(name, catalog), Extent.WHOLE if cascade else Extent.OBJECT)


def _set_statistics(request: Any) -> Iterable[Need]:
    written = list(_written(request.colStats))
    yield from written
    if request.force:
        yield from (Need(Action.LOCK, each.name) for each in written)
    if request.parameters is not None:
        named = request.parameters
        table = table_of(named.dbName, named.tblName, named.catName)
        yield Need(Action.WRITE_STATISTICS, table)
        if request.force:
            yield Need(Action.LOCK, table)
        keys = (key for each in named.changes or () for key in (*(each.put or {}), *(each.remove or ())))
        if not all(map(is_of_statistics, keys)):
            yield Need(Action.ALTER, table)


def _written(structs: Iterable[Any] | None) -> Iterable[Need]:
    for each in structs or ():
        if each is None or each.statsDesc is None:
            raise MetaError("column statistics must have a statsDesc that names their table, found none")
        described = each.statsDesc
        yield Need(Action.WRITE_STATISTICS, table_of(described.dbName, described.tableName, described.catName))


def _locked_statistics(request: Any) -> Need:
    if request.tblName:
        return Need(Action.LOCK, table_of(request.dbName, request.tblName, request.catName))
    return Need(Action.LOCK, database_of(request.dbName, request.catName))


def _preferred(request: Any) -> Need:
    if not request.dbName:
        return Need(Action.ADMIN, THE_SERVER)
    if not request.tblName:
        return Need(Action.WRITE_STATISTICS, database_of(request.dbName, request.catName))
    return Need(Action.WRITE_STATISTICS, table_of(request.dbName, request.tblName, request.catName))


def _check_access(request: Any, who: Identity) -> Iterable[Need]:
    """The need to list the object, and for decisions about another user to be admin of the server."""
    if request.groupNames or request.userName not in (None, who.user):
        yield Need(Action.ADMIN, THE_SERVER)
    name = asked_object(request)
    yield Need(Action.LIST, name, Extent.OBJECT if name else Extent.SOMEWHERE)


def _tables_by_name(database: str | None, names: Iterable[str] | None, catalog: str | None = None) -> Iterable[Need]:
    """The need to list the database, unless it is a pattern without tables; and to read each table, if listed."""
    parent = database_of(database, catalog)
    if names is not None or _WILDCARDS.isdisjoint(parent[-1]):
        yield Need(Action.LIST, parent)
    for name in tables_of(database, names, catalog) if names else ():
        yield Need(Action.READ, name, Extent.IF_LISTED)


def _blamed(request: Any) -> Iterable[Need]:
    """The needs to write statistics of every blamed table; if there is none, of any table."""
    yield Need(Action.WRITE_STATISTICS, THE_SERVER, Extent.SOMEWHERE)
    for each in request.blame or ():
        if each is None:
            raise MetaError("an entry of blame must name a table, found none")
        yield Need(Action.WRITE_STATISTICS, table_of(each.dbName, each.tblName, each.catName))


def _components(request: Any) -> Iterable[Need]:
    yield Need(Action.LOCK, THE_SERVER, Extent.SOMEWHERE)
    for each in request.component or ():
        if each is None:
            raise MetaError("a lock must name what is to be locked, found none")
        name = table_of(each.dbname, each.tablename) if each.tablename else database_of(each.dbname)
        yield Need(Action.LOCK, name)


def _get_table_req(arguments: Arguments, _: Identity) -> Iterable[Need]:
    request = arguments["req"]
    table = table_of(request.dbName, request.tblName, request.catName)
    wanted = Extent.OBJECT if request.getColumnStats else Extent.IN_PART
    return Need(Action.READ, table), Need(Action.READ_STATISTICS, table, wanted)


def _partitions_by_names(arguments: Arguments, _: Identity) -> Iterable[Need]:
    request = arguments["req"]
    table = table_of(request.db_name, request.tbl_name)
    read = Need(Action.READ, table)
    return (read, Need(Action.READ_STATISTICS, table)) if request.get_col_stats else (read,)


def _about_principal(name: str, kind: str) -> FindNeeds:
    """The need of a question about a principal: to list any object if it is the user itself, else to be admin."""

    def find(arguments: Arguments, who: Identity) -> Iterable[Need]:
        own = value_at(arguments, name) == who.user and value_at(arguments, kind) == _USER
        return (Need(Action.LIST, THE_SERVER, Extent.SOMEWHERE) if own else Need(Action.ADMIN, THE_SERVER),)

    return find


def _privilege_set(arguments: Arguments, who: Identity) -> Iterable[Need]:
    if arguments["user_name"] not in (None, who.user) or arguments["group_names"]:
        yield Need(Action.ADMIN, THE_SERVER)
    secured = secured_from_thrift(arguments["hiveObject"])
    if secured is not None and secured.database:
        name = (secured.catalog, secured.database)
        yield Need(Action.LIST, (*name, secured.table) if secured.table else name)


def _functions(*named: Any) -> Iterable[Need]:
    """The need to be admin for functions, which are programs that engines run: creating a table needs less."""
    return [Need(Action.ADMIN, function_of(*each)) for each in named]


def _of_function(struct: Any) -> tuple[Any, ...]:
    return struct.dbName, struct.functionName, struct.catName


_OPEN = """
    aliveSince flushCache getCounter getCounters getCpuProfile getMetaConf getName getOption getOptions getStatus
    getStatusDetails getVersion get_config_value get_metastore_db_uuid
    partition_name_has_valid_characters partition_name_to_spec partition_name_to_vals reinitialize setMetaConf setOption
    set_ugi shutdown get_delegation_token renew_delegation_token cancel_delegation_token
"""
_ADMIN = """
add_runtime_stats get_runtime_stats
    add_master_key add_token cm_recycle create_role drop_role find_next_compact find_next_compact2
    get_all_token_identifiers get_master_keys get_open_txns_info get_principals_in_role get_role_names get_token
    grant_privileges grant_revoke_privileges grant_revoke_role grant_role refresh_privileges remove_master_key
    remove_token revoke_privileges revoke_role seed_txn_id seed_write_id update_master_key
    alter_dataconnector alter_dataconnector_req create_dataconnector create_dataconnector_req drop_dataconnector
    drop_dataconnector_req get_dataconnector_req get_dataconnectors create_type drop_type get_type
"""

_READS = {
    **_rules_for(
        """
        get_partition get_partition_by_name get_partition_names get_partition_names_ps get_partition_with_auth
        get_partitions get_partitions_by_filter get_partitions_by_names get_partitions_ps get_partitions_ps_with_auth
        get_partitions_pspec get_partitions_with_auth get_part_specs_by_filter get_num_partitions_by_filter
        isPartitionMarkedForEvent
        """,
        on_table(Action.READ, "db_name", "tbl_name"),
    ),
    **_rules_for(
        "get_fields get_fields_with_environment_context get_schema get_schema_with_environment_context",
        on_table(Action.READ, "db_name", "table_name"),
    ),
    **_rules_for(
        """
        get_fields_req get_schema_req get_partition_names_ps_req get_partition_names_req get_partition_req
        get_partitions_by_expr get_partitions_by_filter_req get_partitions_ps_with_auth_req get_partitions_req
        get_partitions_spec_by_expr
        """,
        on_table(Action.READ, "req.dbName", "req.tblName", "req.catName"),
    ),
    **_rules_for(
        "get_partition_values get_partitions_with_specs",
        on_table(Action.READ, "request.dbName", "request.tblName", "request.catName"),
    ),
    **_rules_for(
        "fetch_partition_names_req",
        on_table(Action.READ, "partitionReq.dbName", "partitionReq.tblName", "partitionReq.catName"),
    ),
    **_rules_for(
        """
        get_check_constraints get_default_constraints get_not_null_constraints get_primary_keys get_unique_constraints
        """,
        on_table(Action.READ, "request.db_name", "request.tbl_name", "request.catName"),
    ),
    **_rules_for(
        "get_all_table_constraints",
        on_table(Action.READ, "request.dbName", "request.tblName", "request.catName"),
        filters.all_constraints,
    ),
    "get_partitions_by_names_req": CallRule(_partitions_by_names),
    "get_table": CallRule(
        lambda arguments, _: [
            Need(Action.READ, name := table_of(arguments["dbname"], arguments["tbl_name"])),
            Need(Action.READ_STATISTICS, name, Extent.IN_PART),
        ],
        filters.one_table,
    ),
    "get_table_req": CallRule(_get_table_req, filters.table_result),
    "get_table_objects_by_name": CallRule(
        lambda arguments, _: list(_tables_by_name(arguments["dbname"], arguments["tbl_names"])),
        filters.tables,
        _NO_DATABASE,
    ),
    "get_table_objects_by_name_req": CallRule(
        lambda arguments, _: list(
            _tables_by_name(arguments["req"].dbName, arguments["req"].tblNames, arguments["req"].catName)
        ),
        filters.tables_result,
        _NO_DATABASE,
    ),
    "get_database": CallRule(on_database(Action.READ, "name")),
    "get_database_req": CallRule(on_database(Action.READ, "request.name", "request.catalogName")),
    "get_catalog": CallRule(on_catalog(Action.READ, "catName.name")),
    "get_function": CallRule(
        lambda arguments, _: (Need(Action.READ, function_of(arguments["dbName"], arguments["funcName"])),),
        missing="Function {} does not exist",
    ),
    "get_max_allocated_table_write_id": CallRule(on_table(Action.READ, "rqst.dbName", "rqst.tableName")),
    "get_valid_write_ids": CallRule(
        lambda arguments, _: [
            Need(Action.READ, parts(full_table_name(each))) for each in arguments["rqst"].fullTableNames or ()
        ]
    ),
    "get_latest_committed_compaction_info": CallRule(on_table(Action.READ, "rqst.dbname", "rqst.tablename")),
    **_rules_for(
        "get_open_txns get_open_txns_req show_compact get_materialization_invalidation_info", somewhere(Action.READ)
    ),
}
_LISTS = {
    **_rules_for("get_databases get_all_databases", None, filters.databases_by_pattern),
    "get_databases_req": CallRule(shown=filters.databases),
    "get_catalogs": CallRule(shown=filters.catalogs),
    **_rules_for("get_tables get_tables_by_type get_all_tables", None, filters.names_in("db_name")),
    "get_materialized_views_for_rewriting": CallRule(shown=filters.names_in("db_name", Action.READ)),
    "get_all_materialized_view_objects_for_rewriting": CallRule(shown=filters.tables),
    "get_tables_ext": CallRule(shown=filters.extended_tables),
    "get_table_names_by_filter": CallRule(shown=filters.names_by_filter),
    "get_table_meta": CallRule(shown=filters.summaries),
    "get_functions": CallRule(shown=filters.names_in("dbName")),
    **_rules_for("get_functions_req get_all_functions", None, filters.functions),
    "get_foreign_keys": CallRule(shown=filters.foreign_keys),
    "show_locks": CallRule(shown=filters.locks),
    "list_roles": CallRule(_about_principal("principal_name", "principal_type")),
    "get_role_grants_for_principal": CallRule(_about_principal("request.principal_name", "request.principal_type")),
    "list_privileges": CallRule(_about_principal("principal_name", "principal_type"), filters.privileges),
    "get_privilege_set": CallRule(lambda arguments, who: list(_privilege_set(arguments, who))),
    "get_next_notification": CallRule(somewhere(Action.READ_NOTIFICATIONS), filters.notifications),
    "get_current_notificationEventId": CallRule(somewhere(Action.READ_NOTIFICATIONS)),
    "get_notification_events_count": CallRule(
        on_database(Action.READ_NOTIFICATIONS, "rqst.dbName", "rqst.catName", Extent.WHOLE)
    ),
}
_STATISTICS = {
    **_rules_for(
        "get_table_column_statistics get_partition_column_statistics",
        on_table(Action.READ_STATISTICS, "db_name", "tbl_name"),
    ),
    **_rules_for(
        """
        get_aggr_stats_for get_arrow_statistics get_distinct_count get_merged_statistics get_partition_health
        get_partitions_statistics_req get_past_statistics get_provenance get_quantiles get_statistics
        get_table_statistics_req get_top_k
        """,
        on_table(Action.READ_STATISTICS, "request.dbName", "request.tblName", "request.catName"),
    ),
    "get_statistics_history": CallRule(
        on_table(Action.READ_STATISTICS, "request.dbName", "request.tblName", "request.catName"), filters.history
    ),
    **_rules_for(
        "delete_table_column_statistics delete_partition_column_statistics",
        on_table(Action.WRITE_STATISTICS, "db_name", "tbl_name"),
    ),
    **_rules_for(
        "delete_column_statistics_req", on_table(Action.WRITE_STATISTICS, "req.db_name", "req.tbl_name", "req.cat_name")
    ),
    **_rules_for(
        "update_table_column_statistics update_partition_column_statistics",
        lambda arguments, _: list(_written([arguments["stats_obj"]])),
    ),
    **_rules_for(
        "update_table_column_statistics_req update_partition_column_statistics_req",
        lambda arguments, _: list(_written(arguments["req"].colStats)),
    ),
    "set_aggr_stats_for": CallRule(lambda arguments, _: list(_written(arguments["request"].colStats))),
    "set_statistics": CallRule(lambda arguments, _: list(_set_statistics(arguments["request"]))),
    "restore_statistics": CallRule(
        on_table(Action.WRITE_STATISTICS, "request.dbName", "request.tblName", "request.catName")
    ),
    **_rules_for("put_partial_states get_partial_states remove_partial_states", somewhere(Action.WRITE_STATISTICS)),
}
_CREATES = {
    **_rules_for(
        "create_table create_table_with_environment_context create_table_with_constraints",
        lambda arguments, _: list(_create_table(arguments["tbl"], arguments)),
    ),
    **_rules_for(
        "create_table_req translate_table_dryrun",
        lambda arguments, _: list(
            _create_table(arguments["request"].table, {field: getattr(arguments["request"], field) for field in LISTS})
        ),
    ),
    "create_database": CallRule(on_database(Action.CREATE, "database.name", "database.catalogName")),
    "create_database_req": CallRule(
        on_database(Action.CREATE, "createDatabaseRequest.databaseName", "createDatabaseRequest.catalogName")
    ),
    "create_catalog": CallRule(on_catalog(Action.CREATE, "catalog.catalog.name")),
    "create_function": CallRule(lambda arguments, _: _functions(_of_function(arguments["func"]))),
}
_ALTERS = {
    **_rules_for(
        "alter_table alter_table_with_cascade alter_table_with_environment_context",
        lambda arguments, _: list(_alter_table(arguments["dbname"], arguments["tbl_name"], None, arguments["new_tbl"])),
    ),
    "alter_table_req": CallRule(
        lambda arguments, _: list(
            _alter_table(
                arguments["req"].dbName, arguments["req"].tableName, arguments["req"].catName, arguments["req"].table
            )
        )
    ),
    **_rules_for(
        """
        alter_partition alter_partition_with_environment_context alter_partitions
        alter_partitions_with_environment_context
        """,
        lambda arguments, _: (
            Need(Action.ALTER, table_of(arguments["db_name"], arguments["tbl_name"]), Extent.OR_STATISTICS),
        ),
    ),
    "alter_partitions_req": CallRule(
        lambda arguments, _: (
            Need(
                Action.ALTER,
                table_of(arguments["req"].dbName, arguments["req"].tableName, arguments["req"].catName),
                Extent.OR_STATISTICS,
            ),
        )
    ),
    **_rules_for(
        """
        append_partition append_partition_by_name append_partition_by_name_with_environment_context
        append_partition_with_environment_context drop_partition drop_partition_by_name
        drop_partition_by_name_with_environment_context drop_partition_with_environment_context rename_partition
        markPartitionForEvent
        """,
        on_table(Action.ALTER, "db_name", "tbl_name"),
    ),
    **_rules_for(
        "append_partition_req",
        on_table(
            Action.ALTER,
            "appendPartitionsReq.dbName",
            "appendPartitionsReq.tableName",
            "appendPartitionsReq.catalogName",
        ),
    ),
    **_rules_for(
        "drop_partition_req",
        on_table(Action.ALTER, "dropPartitionReq.dbName", "dropPartitionReq.tblName", "dropPartitionReq.catName"),
    ),
    **_rules_for("drop_partitions_req", on_table(Action.ALTER, "req.dbName", "req.tblName", "req.catName")),
    **_rules_for("rename_partition_req", on_table(Action.ALTER, "req.dbName", "req.tableName", "req.catName")),
    "add_partitions_req": CallRule(lambda arguments, _: list(_add_partitions_req(arguments["request"]))),
    **_rules_for(
        "add_partition add_partition_with_environment_context",
        lambda arguments, _: list(_added([arguments["new_part"]])),
    ),
    **_rules_for("add_partitions add_partitions_pspec", lambda arguments, _: list(_added(arguments["new_parts"]))),
    **_rules_for(
        "exchange_partition exchange_partitions",
        together(
            on_table(Action.ALTER, "source_db", "source_table_name"),
            on_table(Action.ALTER, "dest_db", "dest_table_name"),
        ),
    ),
    "truncate_table": CallRule(on_table(Action.ALTER, "dbName", "tableName")),
    "truncate_table_req": CallRule(on_table(Action.ALTER, "req.dbName", "req.tableName")),
    "add_primary_key": _constraints(ConstraintKind.PRIMARY_KEY, "primaryKeyCols"),
    "add_foreign_key": _constraints(ConstraintKind.FOREIGN_KEY, "foreignKeyCols"),
    "add_unique_constraint": _constraints(ConstraintKind.UNIQUE, "uniqueConstraintCols"),
    "add_not_null_constraint": _constraints(ConstraintKind.NOT_NULL, "notNullConstraintCols"),
    "add_default_constraint": _constraints(ConstraintKind.DEFAULT, "defaultConstraintCols"),
    "add_check_constraint": _constraints(ConstraintKind.CHECK, "checkConstraintCols"),
    "drop_constraint": CallRule(on_table(Action.ALTER, "req.dbname", "req.tablename", "req.catName")),
    "update_creation_metadata": CallRule(lambda arguments, _: list(_update_creation(arguments))),
    "fire_listener_event": CallRule(on_table(Action.ALTER, "rqst.dbName", "rqst.tableName", "rqst.catName")),
    "add_write_notification_log": CallRule(on_table(Action.ALTER, "rqst.db", "rqst.table")),
    "add_write_notification_log_in_batch": CallRule(on_table(Action.ALTER, "rqst.db", "rqst.table", "rqst.catalog")),
    "add_dynamic_partitions": CallRule(on_table(Action.ALTER, "rqst.dbname", "rqst.tablename")),
    "allocate_table_write_ids": CallRule(on_table(Action.ALTER, "rqst.dbName", "rqst.tableName")),
    **_rules_for("compact compact2", on_table(Action.ALTER, "rqst.dbname", "rqst.tablename")),
    "alter_database": CallRule(lambda arguments, _: list(_alter_database(arguments["dbname"], arguments["db"]))),
    "alter_database_req": CallRule(
        lambda arguments, _: list(_alter_database(arguments["alterDbReq"].oldDbName, arguments["alterDbReq"].newDb))
    ),
    "alter_catalog": CallRule(on_catalog(Action.ALTER, "rqst.name")),
    "alter_function": CallRule(
        lambda arguments, _: _functions(
            (arguments["dbName"], arguments["funcName"]), _of_function(arguments["newFunc"])
        ),
        missing="Function {} does not exist",
    ),
}
_DROPS = {
    **_rules_for(
        "drop_table drop_table_with_environment_context",
        on_table(Action.DROP, "dbname", "name"),
        filters.refused_drop,
    ),
    "drop_table_req": CallRule(
        on_table(Action.DROP, "dropTableReq.dbName", "dropTableReq.tableName", "dropTableReq.catalogName"),
        filters.refused_drop,
    ),
    "drop_database": CallRule(
        lambda arguments, _: _drop_database(arguments["name"], None, cascade=bool(arguments["cascade"])),
        filters.refused_drop,
    ),
    "drop_database_req": CallRule(
        lambda arguments, _: _drop_database(
            arguments["req"].name, arguments["req"].catalogName, cascade=bool(arguments["req"].cascade)
        ),
        filters.refused_drop,
    ),
    "drop_catalog": CallRule(on_catalog(Action.DROP, "catName.name")),
    "drop_function": CallRule(
        lambda arguments, _: _functions((arguments["dbName"], arguments["funcName"])),
        missing="Function {} does not exist",
    ),
}
_LOCKS = {
    "lock": CallRule(lambda arguments, _: list(_components(arguments["rqst"])), filters.lock_answer),
    **_rules_for(
        """
        check_lock unlock heartbeat heartbeat_txn_range open_txns commit_txn abort_txn abort_txns
        add_write_ids_to_min_history get_latest_txnid_in_conflict
        """,
        somewhere(Action.LOCK),
    ),
    **_rules_for("lock_statistics unlock_statistics", lambda arguments, _: [_locked_statistics(arguments["request"])]),
    "get_statistics_locks": CallRule(shown=filters.statistics_locks),
    "list_pending_statistics": CallRule(shown=filters.pending_statistics),
    "get_pending_statistics": CallRule(
        on_table(Action.READ_STATISTICS, "request.dbName", "request.tblName", "request.catName")
    ),
    **_rules_for(
        "publish_statistics reject_statistics",
        on_table(Action.WRITE_STATISTICS, "request.dbName", "request.tblName", "request.catName"),
    ),
    "change_preferences": CallRule(lambda arguments, _: [_preferred(arguments["request"])]),
    "get_preferences": CallRule(shown=filters.preferences),
    "get_statistics_runs": CallRule(shown=filters.statistics_runs),
    **_rules_for(
        "begin_statistics_run renew_statistics_run end_statistics_run",
        on_table(Action.WRITE_STATISTICS, "request.dbName", "request.tblName", "request.catName"),
    ),
    "check_access": CallRule(lambda arguments, who: list(_check_access(arguments["request"], who))),
    "get_statistics_health": CallRule(shown=filters.statistics_health),
    "get_blame": CallRule(shown=filters.blame),
    "record_blame": CallRule(lambda arguments, _: _blamed(arguments["request"])),
}

CALL_RULES: Mapping[str, CallRule] = {
    **_READS,
    **_LISTS,
    **_STATISTICS,
    **_CREATES,
    **_ALTERS,
    **_DROPS,
    **_LOCKS,
    **_rules_for(_ADMIN, on_server(Action.ADMIN)),
    **_rules_for(_OPEN),
}
"""The rule of each call, by its name."""

NOT_NAMED = CallRule(on_server(Action.ADMIN))
"""The rule of a call without an entry."""
