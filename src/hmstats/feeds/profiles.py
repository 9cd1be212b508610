"""Numbers of columns in the forms that catalogs share."""

from hmstats.client.naming import named_table
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.numbers import Number
from hmstats.web.answers.tables import TableFacts

Numeric = int | float


def database_of(table: TableFacts) -> str:
    """The database of a table; its catalog stands before it unless it is the default one."""
    return named_table(table.table).parent.typed


def numeric(value: object) -> Numeric | None:
    """A bound, an edge or a quantile as a number; None for texts, dates and everything else.

    Decimals are texts in answers, as are whole numbers beyond 2^53.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return None


def column_number(column: ColumnFacts, value: object) -> Numeric | None:
    """A value of a column as a number, also of a decimal column, whose values are texts; None if it is no number."""
    found = numeric(value)
    if found is not None or not isinstance(value, str) or not column.type.lower().startswith("decimal"):
        return found
    try:
        return float(value)
    except ValueError:
        return None


def text(value: object) -> str:
    """Any value as text: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_count(table: TableFacts, column: ColumnFacts) -> int | None:
    """The number of values that are not null; None if rows or nulls are unknown."""
    if table.rows is None or column.nulls is None:
        return None
    return max(table.rows.value - column.nulls.value, 0)


def fraction_of(number: Number | None, whole: int | None) -> float | None:
    """A number as a fraction of a whole, at most 1; None if one of them is unknown or the whole is 0."""
    return None if number is None or not whole else min(number.value / whole, 1.0)


def without_none(**fields: object) -> dict[str, object]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def timestamp_ms(table: TableFacts, now_ms: int) -> int:
    """The time at which the oldest of the statistics were written, in epoch ms; now if it is unknown."""
    return now_ms if table.written_at is None else int(table.written_at.timestamp() * 1000)
