"""Builds a server from its parts: store, rules, calls and sockets. The only module that imports all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from hmstats.model.pending.canary import NOBODY, Canary
from hmstats.server.access.guard import AccessGuard, Everybody, RuleSource
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.cache.cached_answers import AnswerCache
from hmstats.server.cache.cached_objects import CachedObjects
from hmstats.server.cache.cached_tables import TableCache
from hmstats.server.cache.recent_changes import RecentChanges
from hmstats.server.calls.audit import AuditLog
from hmstats.server.calls.audit_table import AuditTable
from hmstats.server.calls.canary import with_canary
from hmstats.server.calls.direct_writes import DirectWrites
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.calls.one_snapshot import with_one_snapshot
from hmstats.server.calls.refusals import with_refusals
from hmstats.server.calls.relaying import Relay
from hmstats.server.chores import Chore
from hmstats.server.connections.handshakes import Tls
from hmstats.server.garbage_collection import GarbageCollection
from hmstats.server.limits import Limits
from hmstats.server.monitoring.database_probe import PROBE_SECONDS, DatabaseProbe
from hmstats.server.rpc.access.access_checks import AccessCheckCalls
from hmstats.server.rpc.access.delegation import DelegationCalls
from hmstats.server.rpc.access.privileges import AccessCalls
from hmstats.server.rpc.access.tokens import TokenCalls
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.catalog.catalogs import CatalogCalls
from hmstats.server.rpc.catalog.connectors import ConnectorCalls
from hmstats.server.rpc.catalog.constraints import ConstraintCalls
from hmstats.server.rpc.catalog.databases import DatabaseCalls
from hmstats.server.rpc.catalog.functions import FunctionCalls
from hmstats.server.rpc.catalog.named_types import TypeCalls
from hmstats.server.rpc.catalog.table_changes import TableChangeCalls
from hmstats.server.rpc.catalog.table_queries import TableQueryCalls
from hmstats.server.rpc.catalog.tables import TableCalls
from hmstats.server.rpc.metastore.configuration import ConfigurationCalls
from hmstats.server.rpc.metastore.identity import IdentityCalls
from hmstats.server.rpc.metastore.notifications import NotificationCalls
from hmstats.server.rpc.metastore.session import SessionCalls
from hmstats.server.rpc.partitions.partition_changes import PartitionChangeCalls
from hmstats.server.rpc.partitions.partition_marks import PartitionMarkCalls
from hmstats.server.rpc.partitions.partition_queries import PartitionQueryCalls
from hmstats.server.rpc.partitions.partitions import PartitionCalls
from hmstats.server.rpc.statistics.arrow_statistics import ArrowCalls
from hmstats.server.rpc.statistics.blame import BlameCalls
from hmstats.server.rpc.statistics.brought_statistics import BroughtStatistics
from hmstats.server.rpc.statistics.extension import ExtensionCalls
from hmstats.server.rpc.statistics.health import HealthCalls
from hmstats.server.rpc.statistics.history import HistoryCalls
from hmstats.server.rpc.statistics.pending import PendingCalls
from hmstats.server.rpc.statistics.preferences import PreferenceCalls
from hmstats.server.rpc.statistics.running_writes import RunningWriteCalls
from hmstats.server.rpc.statistics.runs import RunCalls
from hmstats.server.rpc.statistics.runtime_stats import RuntimeStatCalls
from hmstats.server.rpc.statistics.statistics import StatisticsCalls
from hmstats.server.rpc.statistics.statistics_locks import StatisticsLockCalls
from hmstats.server.rpc.transactions.locks import LockCalls
from hmstats.server.rpc.transactions.transactions import TransactionCalls
from hmstats.server.server import Server
from hmstats.server.sockets.listener import Listener
from hmstats.server.sockets.port import Address
from hmstats.service.access.privileges import Privileges
from hmstats.service.access.roles import Roles
from hmstats.service.access.tokens import Tokens
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.databases.catalogs import Catalogs
from hmstats.service.catalog.databases.connectors import Connectors
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.databases.functions import Functions
from hmstats.service.catalog.databases.named_types import NamedTypes
from hmstats.service.catalog.partitions.expressions import Expressions
from hmstats.service.catalog.partitions.known_partitions import KnownPartitions
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_marks import PartitionMarks
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.constraints import Constraints
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.catalog.tables.materialized_views import MaterializedViews
from hmstats.service.catalog.tables.preferences import StatisticsPreferences
from hmstats.service.catalog.tables.statistics_locks import StatisticsLocks
from hmstats.service.catalog.tables.table_filters import TableFilters
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.health.blame import RETENTION_DAYS as BLAME_DAYS
from hmstats.service.health.blame import BlameRecords
from hmstats.service.health.keeper import HealthKeeper
from hmstats.service.health.listing import HealthListing
from hmstats.service.health.runs import RETENTION_DAYS, Runs
from hmstats.service.identity import Identity
from hmstats.service.notifications import NotificationLog
from hmstats.service.preparation import prepare
from hmstats.service.statistics.history.history import StatisticsHistory
from hmstats.service.statistics.history.restore import StatisticsRestore
from hmstats.service.statistics.history.upkeep import HistoryUpkeep, Retention
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.questions.whole_statistics import WholeStatistics
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.distinct import DistinctRules
from hmstats.service.statistics.reading.partition_blocks import PartitionBlocks
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.reading.sizes import TableSizes
from hmstats.service.statistics.running_writes import RunningWrites
from hmstats.service.statistics.runtime_stats import RuntimeStats
from hmstats.service.statistics.spark.spark_statements import SparkStatements
from hmstats.service.statistics.spark.spark_view import SparkView
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.transactions.locks import Locks
from hmstats.service.transactions.transactions import Transactions
from hmstats.service.warehouse.file_listing import LISTING_SECONDS, FileListing
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.wire.events.event_messages import encoder
from hmstats.wire.idl import methods

_CLEANING_SECONDS = 600.0
_COLLECTION_SECONDS = 30.0
_HOUR_SECONDS = 3600.0
_DAY_SECONDS = 24 * _HOUR_SECONDS
_CERTIFICATES_SECONDS = 2.5
"""How often a worker looks for changes of its certificate's files, or of what proves users; the second look reads."""
_ACCESS_SECONDS = 1.0
"""How often a worker looks whether the file of access rules has changed."""
_RUNTIME_STATS_HOURS = 72.0
"""How long runtime statistics of Hive's queries are kept: Hive's metastore.runtime.stats.max.age."""
_HISTORY_SECONDS = 3_600.0
"""How often a server removes and thins what is old in the history of statistics."""
_HEALTH_SECONDS = 2.0
"""How often a worker looks, with one statement, whether something has changed that the health of statistics lacks."""
_WALK_SECONDS = 600.0
"""How often the health of all tables is judged again beside a Hive that does not log its changes; else once a day."""
_BLOCKS_SECONDS = 1.0
"""How often a worker looks whether blocks of partitions' statistics were asked for."""
_AUDIT_SECONDS = 1.0
"""How often a worker writes the audit records that have queued up."""
_RECOVERY_SECONDS = 5.0
"""How often a server looks for unfinished changes of directories of a killed server, with one statement."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of the rules, under the names that they have in hmstats.settings."""

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
    listing_seconds: float = LISTING_SECONDS
    most_partitions_listed: int | None = None
    running_write_retention_hours: float = 24.0
    history_days: int = 31
    history_thinned_days: int = 366
    refuse_locked_writes: bool = False
    ready_needs_database: bool = False
    canary: Canary = NOBODY


@dataclass(frozen=True, slots=True)
class Security:
    """What guards a server."""

    tls: Tls | None = None
    authentication: Authentication | None = None
    """How clients prove who they are; if None, a client is who it says."""
    access: RuleSource | None = None
    """What users may do; if None, everything."""
    audit: AuditLog | None = None
    """Where calls are recorded."""


def build(
    store: Store,
    warehouse: Warehouse,
    address: Address | Listener,
    limits: Limits,
    rules: Rules,
    security: Security = Security(),
    relay: Relay | None = None,
) -> Server:
    """A server that is ready to start, over a database whose schema is current; see `Server` for the address.

    With a `relay`, another metastore answers the calls that it takes; access rules do not reach these.
    """
    tls, authentication, access, audit = security.tls, security.authentication, security.access, security.audit
    prepare(store, warehouse)
    if relay is not None and not relay.has_own_tables:
        rules = _of_mirrors(rules)
    _enable_records(store, rules)
    made, keeper = _statistics(store, rules, limits.objects_bytes), HealthKeeper(store)
    if not store.sees_all_changes:
        limits = replace(limits, answers_bytes=0)
    calls = _all_calls(store, warehouse, rules, security, made, keeper)
    guard = None if access is None and audit is None else AccessGuard(access or Everybody())
    if relay is None:
        dispatcher = _dispatcher(store, calls, made, limits, rules, guard, audit)
    else:
        answers = _answers(store, RecentChanges(store.changes_since), limits.answers_bytes)
        dispatcher = Dispatcher(methods(), calls, answers, guard=guard, audit=audit, relay=relay)
    sessions = partial(Session, spark_names=frozenset(rules.spark_names), canary=rules.canary)
    chores = [] if store.read_only else _upkeep(store, warehouse, rules, keeper, made.blocks)
    chores.append(Chore("garbage", GarbageCollection().run, _COLLECTION_SECONDS))
    if rules.ready_needs_database:
        chores.append(Chore("database_probe", DatabaseProbe(store).run, PROBE_SECONDS, at_once=True))
    chores += [] if relay is None else relay.chores
    chores += _security_chores(security, store)
    versions = store if relay is None else relay.prompt
    return Server(address, dispatcher, limits, tuple(chores), versions, sessions, tls, authentication)


def assemble_here(
    store: Store, warehouse: Warehouse, rules: Rules, *, mirrors: bool, answers_bytes: int = 0
) -> tuple[Dispatcher, list[Chore]]:
    """The dispatcher of calls about a further database, beside that of `build`, and the chores of that database.

    The database has `mirrors` of another metastore's tables, or tables of its own. Answers of `answers_bytes` together
    are cached.
    """
    prepare(store, warehouse)
    rules = _of_mirrors(rules) if mirrors else rules
    _enable_records(store, rules)
    made, keeper = _statistics(store, rules, 0), HealthKeeper(store)
    calls = _all_calls(store, warehouse, rules, Security(), made, keeper)
    answers = _answers(store, RecentChanges(store.changes_since), answers_bytes)
    return Dispatcher(methods(), calls, answers), _upkeep(store, warehouse, rules, keeper, made.blocks)


def _enable_records(store: Store, rules: Rules) -> None:
    """Let the store log changes, and keep what they replace, as far as the rules say so."""
    if rules.notifications:
        store.enable_log(encoder(sketches=rules.send_sketches))
    if rules.history_days:
        store.enable_history()


def _of_mirrors(rules: Rules) -> Rules:
    """The rules where the catalog is another metastore's: its parameters are not changed here, and it logs itself."""
    return replace(rules, keep_accuracy=False, statistics_from_partitions=False, notifications=False)


def _all_calls(
    store: Store, warehouse: Warehouse, rules: Rules, security: Security, made: "_Statistics", keeper: HealthKeeper
) -> Mapping[str, Callable[..., Any]]:
    """The function that answers each RPC, by the RPC's name."""
    access = security.access
    subjects = (
        *_service_calls(store, warehouse, rules),
        *_token_calls(store, security),
        AccessCheckCalls(lambda: None if access is None else access.rules),
        *_catalog_calls(store, warehouse, rules, made),
        *_statistics_calls(store, rules, made),
        *_record_calls(store, rules, keeper),
    )
    trying = with_canary(_calls(subjects), PendingStatistics(store, made.writer))
    return with_refusals(with_one_snapshot(trying, store), store)


def _upkeep(
    store: Store, warehouse: Warehouse, rules: Rules, keeper: HealthKeeper, blocks: PartitionBlocks
) -> list[Chore]:
    """Chores that remove what is old, finish what a killed server began, and keep health and blocks up to date."""
    writes, history = RunningWrites(store), HistoryUpkeep(store, _retention(rules))
    chores = [_cleaning("running_writes", writes.remove_older, rules.running_write_retention_hours)]
    if not store.shape.beside_hive:  # a Hive removes its own after its own retention times
        chores += _cleaning_of_hives_own(store, rules)
    chores.append(Chore("history", history.run, _HISTORY_SECONDS, at_once=True))
    chores += _health_chores(store, keeper)
    chores.append(Chore("partition_blocks", blocks.run, _BLOCKS_SECONDS))
    chores.append(Chore("file_changes", FileChanges(store, warehouse).recover, _RECOVERY_SECONDS, at_once=True))
    return chores


def _cleaning_of_hives_own(store: Store, rules: Rules) -> list[Chore]:
    """Chores that remove what is old of what Hive's clients read."""
    chores = [_cleaning("runtime_stats", RuntimeStats(store).remove_older, _RUNTIME_STATS_HOURS)]
    if rules.notifications:
        older = NotificationLog(store).remove_older
        chores.append(_cleaning("notifications", older, rules.notification_retention_hours))
    return chores


def _retention(rules: Rules) -> Retention:
    return Retention(rules.history_days, rules.history_thinned_days)


class _Statistics(NamedTuple):
    """The readers and writers of statistics that several calls share, and the memory of what they read."""

    memory: BoundedMemory
    blocks: PartitionBlocks
    aggregator: StatisticsAggregator
    readers: Callable[..., StatisticsReader]
    reader: StatisticsReader
    writer: StatisticsWriter
    view: SparkView
    sizes: TableSizes | None


def _dispatcher(
    store: Store,
    calls: Mapping[str, Callable[..., Any]],
    made: _Statistics,
    limits: Limits,
    rules: Rules,
    guard: AccessGuard | None,
    audit: AuditLog | None,
) -> Dispatcher:
    """The dispatcher, which answers from caches, straight from bytes, or by the calls."""
    recent = RecentChanges(store.changes_since)
    answers = _answers(store, recent, limits.answers_bytes)
    if store.shape.beside_hive:  # single statements, and writes straight from bytes, do not fit its database
        return Dispatcher(methods(), calls, answers, guard=guard, audit=audit)
    kept = TableCache(store.current_versions, recent.touched, limits.objects_bytes)
    store.on_older_database(kept.clear)
    objects = CachedObjects(made.reader, kept, sketches=rules.send_sketches)
    if store.read_only:
        return Dispatcher(methods(), calls, answers, objects.calls(), ready=objects.ready(), guard=guard, audit=audit)
    writes = DirectWrites(made.writer.plain, guard)
    quick, direct, ready = objects.calls(), writes.calls(), objects.ready()
    return Dispatcher(methods(), calls, answers, quick, direct, ready, writes.recognise, guard=guard, audit=audit)


def _answers(store: Store, recent: RecentChanges, most_bytes: int) -> AnswerCache:
    """A cache of answers, which is emptied with `recent` when the database turns out to be an older one."""
    answers = AnswerCache(store.current_versions, most_bytes, recent.between)
    store.on_older_database(recent.clear)
    store.on_older_database(answers.clear)
    return answers


def _statistics(store: Store, rules: Rules, known_bytes: int) -> _Statistics:
    memory = BoundedMemory(known_bytes)
    store.on_older_database(memory.clear)
    blocks = PartitionBlocks(store, memory)
    aggregator = StatisticsAggregator(
        store,
        blocks=blocks,
        any_engine=rules.any_engine,
        rules=DistinctRules(density=rules.ndv_density_function, tuner=rules.ndv_tuner),
    )
    filler = aggregator if rules.statistics_from_partitions else None
    sizes = TableSizes(store) if rules.statistics_from_partitions else None
    readers = partial(StatisticsReader, store, any_engine=rules.any_engine, aggregator=filler, sizes=sizes)
    view = SparkView(store, filler, any_engine=rules.any_engine)
    writer = StatisticsWriter(store, keep_accuracy=rules.keep_accuracy)
    return _Statistics(memory, blocks, aggregator, readers, readers(sketches=rules.send_sketches), writer, view, sizes)


def _service_calls(store: Store, warehouse: Warehouse, rules: Rules) -> tuple[object, ...]:
    """Calls about the service itself: sessions, settings, roles, transactions and locks."""
    return (
        SessionCalls(),
        ConfigurationCalls(warehouse.root, warehouse.roots, _hive_settings(rules)),
        IdentityCalls(Identity(store)),
        AccessCalls(Roles(store), Privileges(store)),
        LockCalls(Locks(store, timeout_seconds=rules.lock_timeout_seconds)),
        TransactionCalls(Transactions(store, timeout_seconds=rules.lock_timeout_seconds)),
    )


def _token_calls(store: Store, security: Security) -> tuple[object, ...]:
    """Calls about tokens of this server, and about those that other servers store here."""
    authentication = security.authentication
    refused = authentication is not None and security.access is None
    return (
        DelegationCalls(authentication.delegation if authentication is not None else None),
        TokenCalls(Tokens(store), refused=refused),
    )


def _hive_settings(rules: Rules) -> dict[str, str]:
    """The values of Hive's settings that this server acts by, by their names since Hive 3."""
    return {
        "metastore.dml.events": str(rules.notifications).lower(),
        "metastore.event.db.listener.timetolive": f"{round(rules.notification_retention_hours * _HOUR_SECONDS)}s",
        "metastore.limit.partition.request": str(rules.most_partitions_listed or -1),
        "metastore.stats.fetch.bitvector": str(rules.send_sketches).lower(),
        "metastore.stats.fetch.kll": str(rules.send_sketches).lower(),
        "metastore.stats.ndv.densityfunction": str(rules.ndv_density_function).lower(),
        "metastore.stats.ndv.tuner": str(rules.ndv_tuner),
        "metastore.txn.timeout": f"{round(rules.lock_timeout_seconds)}s",
        "hive.txn.timeout": f"{round(rules.lock_timeout_seconds)}s",
    }


def _catalog_calls(store: Store, warehouse: Warehouse, rules: Rules, made: _Statistics) -> tuple[object, ...]:
    """Calls about the catalog: databases, tables, partitions, constraints, functions, notifications."""
    spark = SparkStatements(made.view)
    listing = FileListing(rules.listing_seconds)
    view = None if rules.spark_statistics == "never" else made.view
    tables = Tables(store, warehouse, spark, listing)
    partitions = Partitions(store, KnownPartitions(store, made.memory), most_listed=rules.most_partitions_listed)
    expressions, brought = Expressions(partitions), BroughtStatistics(made.writer)
    return (
        CatalogCalls(Catalogs(store, warehouse)),
        DatabaseCalls(Databases(store, warehouse)),
        ConnectorCalls(Connectors(store)),
        TableCalls(tables, made.reader, brought, view, to_all=rules.spark_statistics == "always"),
        TableQueryCalls(tables, TableFilters(store), MaterializedViews(store)),
        TableChangeCalls(TableAlterations(store, warehouse, spark, made.sizes, listing), Truncation(store, warehouse)),
        PartitionCalls(partitions, made.reader, Privileges(store)),
        PartitionMarkCalls(PartitionMarks(store)),
        PartitionQueryCalls(partitions, expressions, tables),
        PartitionChangeCalls(
            PartitionChanges(store, warehouse, listing), PartitionMoves(store, warehouse), expressions, brought
        ),
        FunctionCalls(Functions(store)),
        TypeCalls(NamedTypes(store)),
        ConstraintCalls(Constraints(store)),
    )


def _statistics_calls(store: Store, rules: Rules, made: _Statistics) -> tuple[object, ...]:
    """Calls about statistics, Hive's and ours."""
    questions = partial(StatisticsQuestions, store, any_engine=rules.any_engine, blocks=made.blocks)
    sketched = questions(made.readers())
    whole = WholeStatistics(store, plain=questions(made.readers(sketches=False)), sketched=sketched)
    return (
        StatisticsCalls(made.reader, made.aggregator, made.writer, send_sketches=rules.send_sketches),
        ExtensionCalls(sketched, made.writer),
        StatisticsLockCalls(StatisticsLocks(store, refuse=rules.refuse_locked_writes)),
        PreferenceCalls(StatisticsPreferences(store)),
        PendingCalls(PendingStatistics(store, made.writer)),
        ArrowCalls(whole),
    )


def _record_calls(store: Store, rules: Rules, keeper: HealthKeeper) -> tuple[object, ...]:
    """Calls about what is recorded beside the catalog: writes that run, history, health, runs, blame, events."""
    retention = _retention(rules)
    return (
        RunningWriteCalls(RunningWrites(store)),
        RuntimeStatCalls(RuntimeStats(store)),
        HistoryCalls(StatisticsHistory(store, retention), StatisticsRestore(store, retention)),
        HealthCalls(HealthListing(store, keeper)),
        RunCalls(Runs(store)),
        BlameCalls(BlameRecords(store, keeper)),
        NotificationCalls(NotificationLog(store)),
    )


def _security_chores(security: Security, store: Store) -> list[Chore]:
    """Chores of what guards the server: certificates, audit, access rules, proofs of users."""
    chores = [] if security.tls is None else _certificate_chores(security.tls)
    if security.audit is not None and security.audit.table is not None:
        chores += _audit_chores(security.audit.table)
    if security.access is not None:
        chores.append(Chore("rules", security.access.refresh, _ACCESS_SECONDS))
    if security.authentication is not None:
        chores += _authentication_chores(security.authentication, store)
    return chores


def _certificate_chores(tls: Tls) -> list[Chore]:
    """New certificates are looked for often, since old connections keep the certificate that they began with."""
    return [
        Chore("certificates", tls.certificates.refresh, _CERTIFICATES_SECONDS),
        Chore("certificate_expiry", tls.certificates.watch, _DAY_SECONDS, at_once=True),
    ]


def _authentication_chores(authentication: Authentication, store: Store) -> list[Chore]:
    chores = [Chore("authentication", authentication.refresh, _CERTIFICATES_SECONDS, at_once=True)]
    if authentication.delegation is not None and not store.read_only:
        tokens = authentication.delegation.tokens
        chores.append(Chore("delegation_tokens", tokens.remove_expired, _CLEANING_SECONDS))
    return chores


def _health_chores(store: Store, keeper: HealthKeeper) -> list[Chore]:
    """None beside a Hive whose database lacks our tables."""
    if not keeper.keeps:
        return []
    walk_seconds = _DAY_SECONDS if store.sees_all_changes else _WALK_SECONDS
    return [
        Chore("health", keeper.run, _HEALTH_SECONDS),
        Chore("health_walk", keeper.walk, walk_seconds),
        _cleaning("runs", Runs(store).remove_older, RETENTION_DAYS * 24.0),
        _cleaning("blame", BlameRecords(store, keeper).remove_older, BLAME_DAYS * 24.0),
    ]


def _audit_chores(table: AuditTable) -> list[Chore]:
    return [
        Chore("audit_records", table.write_waiting, _AUDIT_SECONDS),
        Chore("audit_retention", table.remove_old, _CLEANING_SECONDS),
    ]


def _cleaning(name: str, remove_older: Callable[[float], object], retention_hours: float) -> Chore:
    return Chore(name, partial(remove_older, retention_hours * _HOUR_SECONDS), _CLEANING_SECONDS)


def _calls(subjects: tuple[object, ...]) -> Mapping[str, Callable[..., Any]]:
    """The method that answers each RPC, by the RPC's name."""
    return {name: getattr(each, name) for each in subjects for name in methods() if hasattr(each, name)}
