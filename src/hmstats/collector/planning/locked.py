"""Leaves locked statistics out of an analysis: columns, partitions, or the whole table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.client import Metastore
from hmstats.collector.planning.plan import Plan
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.preferences import values
from hmstats.model.preferences.in_force import Stated, is_skipped
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.statistics_locks import StatisticsLock, table_lock

LOCKED = "its statistics are locked"
"""The reason why a locked column is skipped."""
_PAST_LOCKS = "--past-locks writes them too"


def locks_of(metastore: Metastore, name: TableName) -> list[StatisticsLock]:
    """The locks on a table or parts of it; none if the metastore is not hmstats."""
    try:
        return metastore.locks.listed(name.database, name.table, name.catalog)
    except CallRefused:
        return []


def sentence(name: TableName, lock: StatisticsLock) -> str:
    """The reason why nothing of a table is analysed."""
    reason = f" ({lock.reason})" if lock.reason else ""
    by = f" by {lock.locked_by}" if lock.locked_by else ""
    return f"the statistics of {name.typed} are locked: {lock.object} is locked{by}{reason}"


def check_unlocked(metastore: Metastore, name: TableName) -> None:
    """Raises StatementError if all of a table is locked."""
    lock = table_lock(locks_of(metastore, name))
    if lock is not None:
        raise StatementError(f"{sentence(name, lock)}; {_PAST_LOCKS}")


def without_locked(metastore: Metastore, plan: Plan, *, automatic: bool) -> Plan:
    """The plan without locked parts; `left_out` is the reason if an automatic analysis must leave out the table.

    Raises StatementError if the whole table or everything requested is locked, unless the analysis is `automatic`.
    """
    locks = locks_of(metastore, plan.table)
    types, reason = unlocked_columns(locks, plan.table, plan.types, automatic=automatic)
    if reason is not None:
        return replace(plan, pieces=(), chosen=True, left_out=reason)
    locked = {each.object.partition for each in locks if each.object.partition and not each.object.columns}
    if automatic:
        stated = metastore.preferences.of_table(plan.table)
        locked |= _skipped_names(stated, plan)
        reason = reason_left_out(stated, plan.table, plan.parameters)
    pieces = [each for each in plan.pieces if each.name in locked]
    if len(pieces) == len(plan.pieces) and (pieces or reason):
        all_locked = f"all partitions of {plan.table.typed} are locked or skipped"
        return replace(
            plan, pieces=(), chosen=True, left_out=reason or _refuse_unless_automatic(all_locked, automatic=automatic)
        )
    return replace(
        plan,
        types=types,
        skipped={**plan.skipped, **dict.fromkeys(plan.types.keys() - types.keys(), LOCKED)},
        pieces=tuple(each for each in plan.pieces if each not in pieces),
        locked=tuple(pieces),
        chosen=plan.chosen or bool(pieces),
    )


def unlocked_columns(
    locks: Sequence[StatisticsLock], name: TableName, types: Mapping[str, str], *, automatic: bool
) -> tuple[dict[str, str], str | None]:
    """The columns that are not locked, with their types, and the reason if nothing is to be analysed, or None.

    Raises StatementError if all columns are locked, unless the analysis is `automatic`.
    """
    locked = {each for lock in locks if lock.object.partition is None for each in lock.object.columns}
    free = {column: kind for column, kind in types.items() if column not in locked}
    whole = table_lock(locks)
    if whole is not None:
        return {}, _refuse_unless_automatic(sentence(name, whole), automatic=automatic)
    if types and not free:
        return {}, _refuse_unless_automatic(
            f"all columns of {name.typed} that were to be analysed are locked", automatic=automatic
        )
    return free, None


def reason_left_out(stated: Stated, name: TableName, parameters: Parameters) -> str | None:
    """The reason why an automatic analysis leaves out a table, or None. `parameters` are the table's."""
    subject = Subject(name.parent, name.table)
    if stated.is_automatic(subject, parameters):
        return None
    origin = stated.in_force(values.AUTOMATIC, subject, parameters).origin
    return f"{name.typed} is left out of automatic analyses: {origin} says so"


def _refuse_unless_automatic(reason: str, *, automatic: bool) -> str:
    if not automatic:
        raise StatementError(f"{reason}; {_PAST_LOCKS}")
    return reason


def _skipped_names(stated: Stated, plan: Plan) -> set[str]:
    """The names of the pieces that an automatic analysis leaves out."""
    table = Subject(plan.table.parent, plan.table.table)
    usual = stated.is_automatic(table, plan.parameters)
    said = {each.subject.partition for each in stated.preferences if each.subject.table_name == plan.table}
    skipped: set[str] = set()
    for each in plan.pieces:
        if each.name in said:
            taken = stated.is_automatic(replace(table, partition=each.name), each.parameters)
        else:
            taken = usual and not (plan.keys and is_skipped(each.parameters))
        if not taken:
            skipped.add(each.name)
    return skipped
