"""One column with more of it, and the statement and the commands that give the same."""

import re
import shlex

from hmstats.client import Metastore
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import Column, Table
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.web.answers.tables import ColumnPage
from hmstats.web.reading.columns.column_answers import AnswerSizes
from hmstats.web.reading.columns.column_numbers import column_facts
from hmstats.web.reading.columns.found_columns import read_columns, read_keys
from hmstats.web.reading.columns.histograms import PARTS_OF_A_COLUMN
from hmstats.web.reading.existing import existing_column, existing_table, shown_name
from hmstats.web.reading.moments import moment
from hmstats.web.reading.parts import Part, read_part
from hmstats.web.reading.selections import Selection

_BINS = 30
_OBEYED = re.compile(r'["$`\\!]')
"""Characters that a shell obeys between double quotes."""
_COLUMN = AnswerSizes(PARTS_OF_A_COLUMN, 10)


def column_page(service: Metastore, text: str, name: str, selection: Selection) -> ColumnPage:
    """A column of the table named as `[CATALOG.]DB.TABLE`.

    Raises NoSuchObject when table, column or partitions are not there, StatementError for a filter that cannot be read.
    """
    table = existing_table(service, text)
    column = existing_column(table, name)
    is_key = column in table.partition_keys
    part = read_part(service, table, selection, [] if is_key else [column])
    if is_key:
        found = read_keys(service, part)[table.partition_keys.index(column)]
    else:
        found = read_columns(service, part, [column], _COLUMN)[column.name.lower()]
    return ColumnPage(
        table=shown_name(table.name),
        as_of=None if part.at_ms is None else moment(part.at_ms),
        hmstats=service.may_be_hmstats,
        rows=part.counts.rows,
        partitions=None if part.partitions is None else part.partitions,
        selection=part.said,
        column=column_facts(column, found, bins=_BINS, is_key=is_key),
        statement=_statement(table, column, part, selection),
        commands=tuple(_commands(table, column, part, selection)),
    )


def _statement(table: Table, column: Column, part: Part, selection: Selection) -> str:
    """The SQL that computes the column's numbers anew."""
    name = quote_name(column.name)
    numbers = ["count(*)", f"count(*) - count({name})", f"count(DISTINCT {name})"]
    kind = kind_of(column.type)
    if kind in (Kind.STRING, Kind.BINARY):
        numbers += [f"avg(octet_length({name}))", f"max(octet_length({name}))"]
    elif kind is Kind.BOOLEAN:
        numbers += [f"sum(CASE WHEN {name} THEN 1 ELSE 0 END)"]
    else:
        numbers += [f"min({name})", f"max({name})"]
    source = quote_name(table.name.database, table.name.table)
    return f"SELECT {', '.join(numbers)} FROM {source}{_condition(part, selection)}"


def _condition(part: Part, selection: Selection) -> str:
    if part.said is None:
        return ""
    if selection.where and not (selection.first or selection.last):
        return f" WHERE {selection.where}"
    return f" /* partitions {part.said.first} to {part.said.last} */"


def _commands(table: Table, column: Column, part: Part, selection: Selection) -> list[str]:
    """The commands that print the same; a range of partitions has none."""
    name = shown_name(table.name)
    show = shlex.join(["hmstats", "show", name])
    if part.at_ms is not None:
        return [f"{show} --as-of {selection.as_of}"]
    if part.said is None:
        more = ""
    elif selection.where and not (selection.first or selection.last):
        more = f" --where {_condition_argument(selection.where)}"
    else:
        return []
    of = f"{shlex.join([name, column.name])}{more}"
    asked = [f"hmstats ask distinct {of}"]
    kind = kind_of(column.type)
    if kind not in (Kind.STRING, Kind.BINARY, Kind.BOOLEAN):
        asked += [f"hmstats ask bounds {of}", f"hmstats ask quantile {of}"]
    return [*asked, f"hmstats ask top {of}", *([] if more else [show])]


def _condition_argument(condition: str) -> str:
    """A condition as a shell's argument: between double quotes, if it has nothing that a shell obeys there."""
    return shlex.quote(condition) if _OBEYED.search(condition) else f'"{condition}"'
