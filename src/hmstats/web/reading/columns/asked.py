"""Rows, distinct values, bounds, quantiles and frequent values of a table, or of the partitions that a filter selects.

Every function raises MissingStatistics, with the statement that would compute what is missing, and StatementError for a
column or a filter that cannot be.
"""

from collections.abc import Sequence

from hmstats.client import Metastore
from hmstats.client.asked.asked_table import AskedTable
from hmstats.web.answers.asked import Asked
from hmstats.web.answers.columns import Frequent, Quantile
from hmstats.web.answers.numbers import python_scalar
from hmstats.web.reading.existing import existing_table, shown_name


def ask_rows(service: Metastore, text: str, where: str | None) -> Asked:
    """How many rows there are."""
    of = _table(service, text)
    found = of.count(where=where)
    return Asked(table=shown_name(of.table.name), count=found.count, exact=found.exact)


def ask_distinct(service: Metastore, text: str, column: str, where: str | None) -> Asked:
    """How many distinct values a column has."""
    of = _table(service, text)
    found = of.distinct(column, where=where)
    return Asked(
        table=shown_name(of.table.name),
        column=of.column(column).name,
        count=found.count,
        low=found.low,
        high=found.high,
        standard_error=found.standard_error,
        exact=found.exact,
    )


def ask_bounds(service: Metastore, text: str, column: str, where: str | None) -> Asked:
    """The least and the greatest value of a column."""
    of = _table(service, text)
    found = of.bounds(column, where=where)
    low, high = (None if each is None else python_scalar(each) for each in (found.low, found.high))
    return Asked(table=shown_name(of.table.name), column=of.column(column).name, low=low, high=high, exact=found.exact)


def ask_quantiles(service: Metastore, text: str, column: str, fractions: Sequence[float], where: str | None) -> Asked:
    """The values below which fractions of a column's values lie."""
    of = _table(service, text)
    found = of.quantile(column, fractions, where=where)
    every = zip(fractions, found.values, found.low, found.high, strict=True)
    return Asked(
        table=shown_name(of.table.name),
        column=of.column(column).name,
        count=found.count,
        exact=found.exact,
        quantiles=tuple(
            Quantile(fraction=at, value=python_scalar(value), low=python_scalar(low), high=python_scalar(high))
            for at, value, low, high in every
        ),
    )


def ask_frequent(service: Metastore, text: str, column: str, most: int, where: str | None) -> Asked:
    """The most frequent values of a column."""
    of = _table(service, text)
    found = of.top(column, most, where=where)
    return Asked(
        table=shown_name(of.table.name),
        column=of.column(column).name,
        count=found.count,
        exact=found.exact,
        frequent=tuple(
            Frequent(value=python_scalar(each.value), low=each.low, high=each.high) for each in found.values
        ),
    )


def _table(service: Metastore, text: str) -> AskedTable:
    return AskedTable(service, existing_table(service, text))
