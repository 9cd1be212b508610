"""Tables by the health of their statistics, the worst first, as hmstats keeps them."""

import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from hmstats.client import Metastore
from hmstats.client.refusals import refusals
from hmstats.errors import CallRefused, StatementError, UnknownCall
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE
from hmstats.model.health.pages import ObjectHealth
from hmstats.outlets.people.health import reason_text
from hmstats.web.answers.health import HealthList, TableHealth
from hmstats.web.reading.existing import shown_name
from hmstats.web.reading.moments import moment

_NAME = re.compile(r"[\w-]+")


def health_list(
    service: Metastore, database: str | None = None, *, below: int | None = None, after: str | None = None, limit: int
) -> HealthList:
    """A page of tables with a health below `below`, from the cursor on.

    Raises StatementError for an invalid cursor, or a name that is no database's; UnknownCall when the metastore
    is not hmstats.
    """
    if database is not None and not _NAME.fullmatch(database):
        raise StatementError(f"a database must be named by letters, digits, _ and -, found {database[:60]!r}")
    try:
        found = service.health.page(database, below=below, after=after, most=limit)
    except CallRefused as error:
        if after is not None and error.kind == "InvalidInputException":
            raise StatementError(f"a cursor must be taken from the answer before, found {after[:60]!r}") from error
        raise
    return HealthList(tables=tuple(_lines(service, found.entries)), complete=found.complete, next=found.next_page)


def worst_tables(service: Metastore, most: int) -> tuple[list[TableHealth], bool]:
    """The tables with the worst health, and whether there are more. Raises UnknownCall when it is not hmstats."""
    found: list[TableHealth] = []
    after: str | None = None
    while len(found) < most:
        page = service.health.page(after=after, most=most - len(found))
        found += _lines(service, page.entries)
        after = page.next_page
        if after is None:
            break
    return found, after is not None


def health_of(service: Metastore, name: TableName) -> TableHealth | None:
    """The health of one table; None where the metastore keeps none."""
    if not service.may_be_hmstats:
        return None
    try:
        found = service.health.page(name.database, name.table, catalog=name.catalog)
    except UnknownCall:
        return None
    return next(_lines(service, [each for each in found.entries if each.table == name]), None)


def _lines(service: Metastore, found: Sequence[ObjectHealth]) -> Iterator[TableHealth]:
    """The lines of tables; why some of them cannot be refreshed is read in a call for each database."""
    refused = refusals(service, (each.table for each in found if each.health.health < WHOLE))
    return (_line(each, refused.get(each.table)) for each in found)


def _line(each: ObjectHealth, refused: str | None) -> TableHealth:
    health, at = each.health, each.health.analyzed_at_seconds
    return TableHealth(
        table=shown_name(each.table),
        database=each.table.database,
        name=each.table.table,
        health=health.health,
        reason=health.reason,
        why=reason_text(health),
        rows=health.now.rows,
        rows_then=health.then.rows,
        jump=health.jump,
        columns=health.columns,
        analyzed_columns=health.analyzed,
        analyzed_at=None if at is None else datetime.fromtimestamp(at, UTC),
        stale_since=None if health.stale_since_ms is None else moment(health.stale_since_ms),
        partitions=health.partitions,
        stale_partitions=health.stale_partitions,
        refused=refused,
        command=_command(each) if health.health < WHOLE and refused is None else None,
    )


def _command(each: ObjectHealth) -> str:
    return f"hmstats refresh {shlex.quote(shown_name(each.table))}"
