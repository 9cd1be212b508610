"""Puts a server together: store, rules, calls, sockets. The only place that knows all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from hmstats.server.answers import Answers
from hmstats.server.chores import Chore
from hmstats.server.direct_writes import DirectWrites
from hmstats.server.dispatch import Dispatcher
from hmstats.server.kept_objects import KeptObjects
from hmstats.server.kept_tables import KeptTables
from hmstats.server.limits import Limits
from hmstats.server.listener import Listener
from hmstats.server.port import Address
from hmstats.server.recent_changes import RecentChanges
from hmstats.server.refusals import with_refusals
from hmstats.server.rpc.access import AccessCalls
from hmstats.server.rpc.arrow_statistics import ArrowCalls
from hmstats.server.rpc.catalogs import CatalogCalls
from hmstats.server.rpc.configuration import ConfigurationCalls
from hmstats.server.rpc.connectors import ConnectorCalls
from hmstats.server.rpc.constraints import ConstraintCalls
from hmstats.server.rpc.databases import DatabaseCalls
from hmstats.server.rpc.extension import ExtensionCalls
from hmstats.server.rpc.functions import FunctionCalls
from hmstats.server.rpc.identity import IdentityCalls
from hmstats.server.rpc.locks import LockCalls
from hmstats.server.rpc.named_types import TypeCalls
from hmstats.server.rpc.notifications import NotificationCalls
from hmstats.server.rpc.partition_changes import PartitionChangeCalls
from hmstats.server.rpc.partition_marks import PartitionMarkCalls
from hmstats.server.rpc.partition_queries import PartitionQueryCalls
from hmstats.server.rpc.partitions import PartitionCalls
from hmstats.server.rpc.running_writes import RunningWriteCalls
from hmstats.server.rpc.session import SessionCalls
from hmstats.server.rpc.statistics import StatisticsCalls
from hmstats.server.rpc.table_changes import TableChangeCalls
from hmstats.server.rpc.table_queries import TableQueryCalls
from hmstats.server.rpc.tables import TableCalls
from hmstats.server.rpc.tokens import TokenCalls
from hmstats.server.rpc.transactions import TransactionCalls
from hmstats.server.server import Server
from hmstats.service.access.privileges import Privileges
from hmstats.service.access.roles import Roles
from hmstats.service.access.tokens import Tokens
from hmstats.service.catalog.alter_table import TableAlterations
from hmstats.service.catalog.catalogs import Catalogs
from hmstats.service.catalog.connectors import Connectors
from hmstats.service.catalog.constraints import Constraints
from hmstats.service.catalog.databases import Databases
from hmstats.service.catalog.expressions import Expressions
from hmstats.service.catalog.functions import Functions
from hmstats.service.catalog.materialized_views import MaterializedViews
from hmstats.service.catalog.named_types import NamedTypes
from hmstats.service.catalog.partition_changes import PartitionChanges
from hmstats.service.catalog.partition_marks import PartitionMarks
from hmstats.service.catalog.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions import Partitions
from hmstats.service.catalog.table_filters import TableFilters
from hmstats.service.catalog.tables import Tables
from hmstats.service.catalog.truncate import Truncation
from hmstats.service.identity import Identity
from hmstats.service.notifications import NotificationLog
from hmstats.service.statistics.aggregate import StatisticsAggregator
from hmstats.service.statistics.distinct import DistinctRules
from hmstats.service.statistics.questions import StatisticsQuestions
from hmstats.service.statistics.read import StatisticsReader
from hmstats.service.statistics.running_writes import RunningWrites
from hmstats.service.statistics.spark_statements import SparkStatements
from hmstats.service.statistics.spark_view import SparkView
from hmstats.service.statistics.whole import WholeStatistics
from hmstats.service.statistics.write import StatisticsWriter
from hmstats.service.transactions.locks import Locks
from hmstats.service.transactions.transactions import Transactions
from hmstats.service.warehouse import Warehouse
from hmstats.store.engine import Store
from hmstats.wire.event_messages import encoder
from hmstats.wire.idl import methods

_CLEANING_SECONDS = 600.0
_HOUR_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices that the rules leave open; hmstats.settings has the same names and says what they mean."""

    keep_accuracy: bool = True
    any_engine: bool = True
    send_sketches: bool = False
    statistics_from_partitions: bool = True
    spark_statistics: str = "spark"
    spark_names: tuple[str, ...] = ("spark",)
    ndv_density_function: bool = False
    ndv_tuner: float = 0.0
    notifications: bool = True
    notification_retention_hours: float = 24.0
    lock_timeout_seconds: float = 300.0
    most_partitions_listed: int | None = None
    running_write_retention_hours: float = 24.0


def prepare(store: Store, warehouse: Warehouse) -> None:
    """Make what every metastore has, the default database and the first roles, unless it is there."""
    if store.read_only:
        return
    Databases(store, warehouse).ensure_default()
    Roles(store).ensure_defaults()


def build(store: Store, warehouse: Warehouse, address: Address | Listener, limits: Limits, rules: Rules) -> Server:
    """A server that is ready to start, over a database whose schema is current; see `Server` for the address."""
    prepare(store, warehouse)
    if rules.notifications:
        store.keep_log(encoder(sketches=rules.send_sketches))
    made = _statistics(store, rules)
    writes, log = RunningWrites(store), NotificationLog(store)
    subjects = (
        *_service_calls(store, warehouse, rules),
        *_catalog_calls(store, warehouse, rules, made),
        *_statistics_calls(store, rules, made),
        RunningWriteCalls(writes),
        NotificationCalls(log),
    )
    cleaning = [_cleaning("running_writes", writes.remove_older, rules.running_write_retention_hours)]
    if rules.notifications and not store.shape.beside_hive:  # there Hive removes them, after its own time
        cleaning.append(_cleaning("notifications", log.remove_older, rules.notification_retention_hours))
    if not store.knows_changes:
        limits = replace(limits, answers_bytes=0)
    dispatcher = _dispatcher(store, with_refusals(_calls(subjects), store), made, limits, rules)
    return Server(address, dispatcher, limits, () if store.read_only else tuple(cleaning), store)


class _Statistics(NamedTuple):
    """What several calls have of statistics."""

    aggregator: StatisticsAggregator
    readers: Callable[..., StatisticsReader]
    reader: StatisticsReader
    writer: StatisticsWriter
    view: SparkView


def _dispatcher(
    store: Store, calls: Mapping[str, Callable[..., Any]], made: _Statistics, limits: Limits, rules: Rules
) -> Dispatcher:
    """What answers requests: from kept answers, from statistics of which some are kept, from bytes, or by the calls."""
    recent = RecentChanges(store.changes_since)
    answers = Answers(store.current_versions, limits.answers_bytes, recent.between)
    if store.shape.beside_hive:  # single statements, and writes straight from bytes, do not fit its database
        return Dispatcher(methods(), calls, answers)
    kept = KeptTables(store.current_versions, recent.between, limits.objects_bytes)
    objects = KeptObjects(made.reader, kept, sketches=rules.send_sketches)
    if store.read_only:
        return Dispatcher(methods(), calls, answers, objects.calls(), ready=objects.ready())
    writes = DirectWrites(made.writer.plain)
    return Dispatcher(methods(), calls, answers, objects.calls(), writes.calls(), objects.ready(), writes.reads)


def _statistics(store: Store, rules: Rules) -> _Statistics:
    aggregator = StatisticsAggregator(
        store,
        any_engine=rules.any_engine,
        rules=DistinctRules(density=rules.ndv_density_function, tuner=rules.ndv_tuner),
    )
    filler = aggregator if rules.statistics_from_partitions else None
    readers = partial(StatisticsReader, store, any_engine=rules.any_engine, aggregator=filler)
    view = SparkView(store, filler, any_engine=rules.any_engine)
    writer = StatisticsWriter(store, keep_accuracy=rules.keep_accuracy)
    return _Statistics(aggregator, readers, readers(sketches=rules.send_sketches), writer, view)


def _service_calls(store: Store, warehouse: Warehouse, rules: Rules) -> tuple[object, ...]:
    """Calls about the service, who uses it, and who waits for whom."""
    return (
        SessionCalls(rules.spark_names),
        ConfigurationCalls(warehouse.root),
        TokenCalls(Tokens(store)),
        IdentityCalls(Identity(store)),
        AccessCalls(Roles(store), Privileges(store)),
        LockCalls(Locks(store, timeout_seconds=rules.lock_timeout_seconds)),
        TransactionCalls(Transactions(store, timeout_seconds=rules.lock_timeout_seconds)),
    )


def _catalog_calls(store: Store, warehouse: Warehouse, rules: Rules, made: _Statistics) -> tuple[object, ...]:
    """Calls about what there is: databases, tables, partitions, and what hangs on them."""
    spark = SparkStatements(made.view)
    view = None if rules.spark_statistics == "never" else made.view
    tables = Tables(store, warehouse, spark)
    partitions = Partitions(store, most_listed=rules.most_partitions_listed)
    expressions = Expressions(partitions)
    return (
        CatalogCalls(Catalogs(store, warehouse)),
        DatabaseCalls(Databases(store, warehouse)),
        ConnectorCalls(Connectors(store)),
        TableCalls(tables, made.reader, view, to_all=rules.spark_statistics == "always"),
        TableQueryCalls(tables, TableFilters(store), MaterializedViews(store)),
        TableChangeCalls(TableAlterations(store, warehouse, spark), Truncation(store, warehouse)),
        PartitionCalls(partitions, made.reader, Privileges(store)),
        PartitionMarkCalls(PartitionMarks(store)),
        PartitionQueryCalls(partitions, expressions),
        PartitionChangeCalls(PartitionChanges(store, warehouse), PartitionMoves(store, warehouse), expressions),
        FunctionCalls(Functions(store)),
        TypeCalls(NamedTypes(store)),
        ConstraintCalls(Constraints(store)),
    )


def _statistics_calls(store: Store, rules: Rules, made: _Statistics) -> tuple[object, ...]:
    """Calls about statistics, Hive's and ours."""
    questions = partial(StatisticsQuestions, store, any_engine=rules.any_engine)
    sketched = questions(made.readers())
    whole = WholeStatistics(store, plain=questions(made.readers(sketches=False)), sketched=sketched)
    return (
        StatisticsCalls(made.reader, made.aggregator, made.writer, send_sketches=rules.send_sketches),
        ExtensionCalls(sketched, made.writer),
        ArrowCalls(whole),
    )


def _cleaning(name: str, remove_older: Callable[[float], object], retention_hours: float) -> Chore:
    return Chore(name, partial(remove_older, retention_hours * _HOUR_SECONDS), _CLEANING_SECONDS)


def _calls(subjects: tuple[object, ...]) -> Mapping[str, Callable[..., Any]]:
    """Each RPC's method by name: what the subjects have of the names in the API."""
    return {name: getattr(each, name) for each in subjects for name in methods() if hasattr(each, name)}
