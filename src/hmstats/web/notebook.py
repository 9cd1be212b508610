"""The picture of a table in a notebook: the columns as the page draws them, in one piece of HTML."""

from dataclasses import dataclass
from functools import cached_property

from hmstats.client import Metastore, connect
from hmstats.web.answers.numbers import Number
from hmstats.web.answers.tables import TableFacts
from hmstats.web.pages.rendering import fragment
from hmstats.web.pages.texts import age_text, number_text, size_text
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts

HERE = "thrift://127.0.0.1:9083"
_MOST_COLUMNS = 200


@dataclass(frozen=True)
class ShownTable:
    """A table with its statistics, as Python's prompt and notebooks show it."""

    facts: TableFacts

    def _repr_html_(self) -> str:
        """The picture; its style counts inside of it alone."""
        return self._html

    @cached_property
    def _html(self) -> str:
        return fragment("notebook.html", found=self.facts)

    def __repr__(self) -> str:
        found = self.facts
        lines = [
            f"{found.table}: {number_text(_value(found.rows))} rows, "
            f"{size_text(_value(found.size_bytes))}, statistics {age_text(found.written_at)} old"
        ]
        for each in found.columns:
            distinct, nulls = number_text(_value(each.distinct)), number_text(_value(each.nulls))
            lines.append(f"  {each.name} {each.type}: {distinct} distinct, {nulls} null")
        return "\n".join(lines)


def show(
    table: str, metastore: str | Metastore = HERE, *, as_of: str | None = None, where: str | None = None
) -> ShownTable:
    """The statistics of the table named as `[CATALOG.]DB.TABLE`, which a notebook shows as pictures.

    `metastore` is an address, or what `connect` gave. `as_of` is a time, as 2026-11-24T07:00:00Z or `2h ago`; `where` a
    filter over the partition keys. At most 200 columns are shown. Raises NoSuchObject if the table is not there,
    StatementError for an invalid filter or time, ServiceUnavailable if the metastore is away.
    """
    selection = Selection(where=where, as_of=as_of)
    if isinstance(metastore, Metastore):
        return ShownTable(table_facts(metastore, table, selection, limit=_MOST_COLUMNS))
    with connect(metastore) as service:
        return ShownTable(table_facts(service, table, selection, limit=_MOST_COLUMNS))


def _value(number: Number | None) -> int | None:
    return None if number is None else number.value
