"""Leaves locked statistics out of an analysis: columns, partitions, or the whole table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.client import Metastore
from hmstats.collector.planning.plan import Plan
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.statistics_locks import StatisticsLock

LOCKED = "its statistics are locked"
"""The reason why a locked column is skipped."""
_PAST_LOCKS = "--past-locks writes them too"
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
        raise StatementError(f"{sentence(name, lock)}; {_PAST_LOCKS}")


def unlocked(metastore: Metastore, plan: Plan, *, automatic: bool) -> Plan:
    """The plan without what is locked; what an automatic analysis is to leave out has its reason in `left`.

    Raises StatementError if all of the table or all that was asked for is locked, unless the analysis is `automatic`.
    """
    locks = locks_of(metastore, plan.table)
    types, reason = unlocked_columns(locks, plan.table, plan.types, plan.parameters, automatic=automatic)
    if reason is not None:
        return replace(plan, pieces=(), chosen=True, left=reason)
    held = {each.object.partition for each in locks if each.object.partition and not each.object.columns}
    pieces = [each for each in plan.pieces if each.name in held or (automatic and _is_skipped(each.parameters))]
    if pieces and len(pieces) == len(plan.pieces):
        reason = _left(f"all partitions of {plan.table.short} are locked or skipped", automatic=automatic)
        return replace(plan, pieces=(), chosen=True, left=reason)
    return replace(
        plan,
        types=types,
        skipped={**plan.skipped, **dict.fromkeys(plan.types.keys() - types.keys(), LOCKED)},
        pieces=tuple(each for each in plan.pieces if each not in pieces),
        held=tuple(pieces),
        chosen=plan.chosen or bool(pieces),
    )


def unlocked_columns(
    locks: Sequence[StatisticsLock],
    name: TableName,
    types: Mapping[str, str],
    parameters: Parameters,
    *,
    automatic: bool,
) -> tuple[dict[str, str], str | None]:
    """The columns that are not locked, with their types, and why nothing is to be analysed, or None.

    Raises StatementError if nothing is, unless the analysis is `automatic`.
    """
    locked = {each for lock in locks if lock.object.partition is None for each in lock.object.columns}
    free = {column: kind for column, kind in types.items() if column not in locked}
    whole = whole_lock(locks)
    if whole is not None:
        return {}, _left(sentence(name, whole), automatic=automatic)
    if types and not free:
        return {}, _left(f"all columns of {name.short} that were to be analysed are locked", automatic=automatic)
    if automatic and _is_skipped(parameters):
        return {}, f"{name.short} has the parameter {_SKIP}"
    return free, None


def _left(reason: str, *, automatic: bool) -> str:
    if not automatic:
        raise StatementError(f"{reason}; {_PAST_LOCKS}")
    return reason


def _is_skipped(parameters: Parameters) -> bool:
    return parameters.get(_SKIP, "").lower() == "true"
