"""Leaves locked statistics out of an analysis: columns, partitions, or the whole table."""

from collections.abc import Sequence
from dataclasses import replace

from hmstats.client import Metastore
from hmstats.collector.planning.plan import Plan
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.statistics_locks import StatisticsLock

LOCKED = "its statistics are locked"
"""The reason why a locked column is skipped."""
_FORCE = "--past-locks writes them too"
_SKIP = "skip.stats.autoupdate"
"""Hive's parameter of tables and partitions that its automatic analyses leave out."""


def locks_of(metastore: Metastore, name: TableName) -> list[StatisticsLock]:
    """The locks that cover a table or something of it; none if the metastore is not hmstats."""
    try:
        return metastore.locks.listed(name.database, name.table, name.catalog)
    except CallRefused:
        return []


def whole_lock(locks: Sequence[StatisticsLock]) -> StatisticsLock | None:
    """The lock that covers all of the table; None if there is none."""
    return next((each for each in locks if each.object.partition is None and not each.object.columns), None)


def sentence(name: TableName, lock: StatisticsLock) -> str:
    """Why nothing of a table is analysed."""
    reason = f" ({lock.reason})" if lock.reason else ""
    by = f" by {lock.locked_by}" if lock.locked_by else ""
    return f"the statistics of {name.short} are locked: {lock.object} is locked{by}{reason}"


def check_unlocked(metastore: Metastore, name: TableName) -> None:
    """Raises StatementError if all of a table is locked."""
    lock = whole_lock(locks_of(metastore, name))
    if lock is not None:
        raise StatementError(f"{sentence(name, lock)}; {_FORCE}")


def unlocked(metastore: Metastore, plan: Plan, *, automatic: bool) -> Plan:
    """The plan without what is locked; what an automatic analysis is to leave out has its reason in `left`.

    Raises StatementError if all of the table or all that was asked for is locked, unless the analysis is `automatic`.
    """
    locks = locks_of(metastore, plan.table)
    whole = whole_lock(locks)
    reason = None if whole is None else sentence(plan.table, whole)
    columns = {each for lock in locks if lock.object.partition is None for each in lock.object.columns}
    types = {name: kind for name, kind in plan.types.items() if name not in columns}
    if reason is None and plan.types and not types:
        reason = f"all columns of {plan.table.short} that were to be analysed are locked"
    if automatic and reason is None and _is_skipped(plan.parameters):
        reason = f"{plan.table.short} has the parameter {_SKIP}"
    if reason is not None:
        return _nothing(plan, reason, automatic=automatic)
    held = {each.object.partition for each in locks if each.object.partition and not each.object.columns}
    pieces = [each for each in plan.pieces if each.name in held or (automatic and _is_skipped(each.parameters))]
    if pieces and len(pieces) == len(plan.pieces):
        return _nothing(plan, f"all partitions of {plan.table.short} are locked or skipped", automatic=automatic)
    return replace(
        plan,
        types=types,
        skipped={**plan.skipped, **dict.fromkeys(plan.types.keys() - types.keys(), LOCKED)},
        pieces=tuple(each for each in plan.pieces if each not in pieces),
        held=tuple(pieces),
        chosen=plan.chosen or bool(pieces),
    )


def _nothing(plan: Plan, reason: str, *, automatic: bool) -> Plan:
    if not automatic:
        raise StatementError(f"{reason}; {_FORCE}")
    return replace(plan, pieces=(), chosen=True, left=reason)


def _is_skipped(parameters: Parameters) -> bool:
    return parameters.get(_SKIP, "").lower() == "true"
