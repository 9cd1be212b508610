"""Bounds, quantiles and frequent values have the types that Python has for a column's values."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.python_values import calendar_text, python_value


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


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.DATE, -719_162, "0001-01-01"),
        (Kind.DATE, 2**40, str(2**40)),
        (Kind.TIMESTAMP, -62_135_596_800, "0001-01-01 00:00:00"),
        (Kind.TIMESTAMP, 981_173_106, "2001-02-03 04:05:06"),
        (Kind.LONG, 7, None),
    ],
)
def test_texts_of_dates_and_timestamps_have_four_digits_of_a_year(kind: Kind, value: int, text: str | None) -> None:
    assert calendar_text(kind, value) == text
