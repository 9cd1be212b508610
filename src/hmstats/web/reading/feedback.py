"""Statistics that made estimates of queries wrong, as `hmstats learn` has recorded it."""

import time

from hmstats.client import Metastore
from hmstats.model.feedback.records import BlameSum
from hmstats.model.feedback.verdicts import explain
from hmstats.outlets.people.times import past_ms
from hmstats.web.answers.feedback import BlamedLine, Feedback
from hmstats.web.reading.existing import existing_table, shown_name
from hmstats.web.reading.moments import moment

PAGE_LINES = 100
SINCE = "7d ago"


def feedback(
    service: Metastore, text: str | None = None, *, since: str | None = None, limit: int = PAGE_LINES
) -> Feedback:
    """The tables and columns that are to blame for most, of all or of one table, over the queries since a time.

    Raises NoSuchObject when the table is not there, StatementError for an invalid time, UnknownCall when the
    metastore is not hmstats.
    """
    name = None if text is None else existing_table(service, text).name
    sums = service.blame.sums(
        None if name is None else name.database,
        None if name is None else name.table,
        since_ms=past_ms("since", since or SINCE, time.time()),
        most=limit,
        catalog=None if name is None else name.catalog,
    )
    found = [each for each in sums if name is None or each.worst.blame.table == name]
    mended = dict.fromkeys(shown_name(each.worst.blame.table) for each in found if each.can_be_mended)
    return Feedback(lines=tuple(map(_line, found)), refresh=tuple(mended))


def _line(found: BlameSum) -> BlamedLine:
    blame = found.worst.blame
    return BlamedLine(
        table=shown_name(blame.table),
        database=blame.table.database,
        name=blame.table.table,
        column=blame.column,
        verdict=blame.verdict,
        why=explain(blame.column, blame.use, blame.verdict),
        used_for=blame.use,
        engine=found.worst.engine,
        estimated=blame.estimated,
        rows=blame.rows,
        factor=round(blame.factor, 3),
        queries=found.queries,
        weight=round(found.weight, 3),
        last_at=moment(found.last_ms),
        analyzed_since=found.analyzed_since,
    )
