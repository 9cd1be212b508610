"""Pending statistics: the changes that they would make, and how they are published and rejected."""

from datetime import UTC, datetime

from hmstats.client import Metastore
from hmstats.client.tables.pending_changes import before_and_after
from hmstats.model.pending.pending import PendingListed
from hmstats.outlets.people.changes import changes
from hmstats.web.answers.pending import PendingLine, PendingList, PendingResult, PendingTable
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import existing_table, shown_name
from hmstats.web.reading.past.change import MOST_CHANGES, change_of

PAGE_PENDING = 50


def every_pending(service: Metastore, *, after: str | None = None, limit: int = PAGE_PENDING) -> PendingList:
    """The pending statistics of every table that the caller may list, by name and partition, from the cursor on.

    Raises StatementError for an invalid cursor, UnknownCall when the metastore is not hmstats.
    """
    found = sorted(service.pending.listed(), key=_key)
    begin = None if after is None else tuple(parts_of(after, 3))
    rest = [each for each in found if begin is None or _key(each) > begin]
    page = rest[:limit]
    return PendingList(
        lines=tuple(map(_line, page)),
        waiting=len(found),
        next=cursor(*_key(page[-1])) if len(rest) > limit else None,
    )


def table_pending(service: Metastore, text: str) -> PendingTable:
    """The pending statistics of the table named as `[CATALOG.]DB.TABLE`, and the changes that they would make.

    Raises NoSuchObject when the table is not there, UnknownCall when the metastore is not hmstats.
    """
    name = existing_table(service, text).name
    found = [each for each in service.pending.listed(name.database, name.table, name.catalog) if each.table == name]
    changed = changes(*before_and_after(service, name)) if found else []
    return PendingTable(
        table=shown_name(name),
        waiting=len(found),
        lines=tuple(map(_line, sorted(found, key=_key)[:MOST_CHANGES])),
        changed=len(changed),
        changes=tuple(map(change_of, changed[:MOST_CHANGES])),
    )


def publish(
    service: Metastore, text: str, partition: str | None = None, if_version: int | None = None
) -> PendingResult:
    """Publish the pending statistics of a table, or of one of its partitions. Raises CallRefused if there are none."""
    table = existing_table(service, text)
    some = None if partition is None else [partition]
    done, recounted = service.pending.publish(table.name, some, if_version=if_version)
    return PendingResult(table=shown_name(table.name), done=done, recounted=recounted)


def reject(service: Metastore, text: str, partition: str | None = None, if_version: int | None = None) -> PendingResult:
    """Discard the pending statistics of a table, or of one of its partitions. Raises CallRefused if there are none."""
    table = existing_table(service, text)
    some = None if partition is None else [partition]
    done = service.pending.reject(table.name, some, if_version=if_version)
    return PendingResult(table=shown_name(table.name), done=done)


def _key(each: PendingListed) -> tuple[str, str, str]:
    return each.table.database, each.table.table, each.partition or ""


def _line(each: PendingListed) -> PendingLine:
    return PendingLine(
        table=shown_name(each.table),
        database=each.table.database,
        name=each.table.table,
        partition=each.partition,
        columns=each.columns,
        held_by=each.reason.held_by,
        reason=each.reason.text,
        writer=each.writer,
        held_at=datetime.fromtimestamp(each.held_at_seconds, UTC),
    )
