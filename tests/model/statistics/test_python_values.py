"""Bounds, quantiles and frequent values have the types that Python has for a column's values."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.python_values import python_value


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Kind.LONG, 18.0, 18),
        (Kind.LONG, 2**63 - 1, 2**63 - 1),
        (Kind.DOUBLE, 0.5, 0.5),
        (Kind.DECIMAL, Decimal("0.10"), Decimal("0.10")),
        (Kind.DECIMAL, 0.9900000095367432, Decimal("0.99")),
        (Kind.DATE, 19_723, date(2024, 1, 1)),
        (Kind.DATE, -1.0, date(1969, 12, 31)),
        (Kind.TIMESTAMP, 1_600_000_000, datetime.fromisoformat("2020-09-13T12:26:40")),
        (Kind.STRING, "mail", "mail"),
        (None, "anything", "anything"),
    ],
)
def test_each_kind(kind: Kind | None, value: Any, expected: object) -> None:
    found = python_value(kind, value)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.TIMESTAMP])
def test_what_is_beyond_the_calendar_stays_a_number(kind: Kind) -> None:
    assert python_value(kind, 2**60) == 2**60
