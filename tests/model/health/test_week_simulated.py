"""The simulated week of docs/collect/refresh.md: every order has the same budget; the same week, the same numbers."""

import re
from pathlib import Path

import pytest
from scripts.week_figure import draw
from scripts.week_simulated import (
    BUDGETS,
    IMAGE,
    ORDERS,
    Simulated,
    Week,
    markdown,
    nightly_seconds,
    simulate,
    tables,
    week,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "collect" / "refresh.md"
TABLES, HOURS = 100, 48


def weeks(part: float) -> dict[str, Week]:
    hourly = nightly_seconds(TABLES, HOURS) / 24 * part
    return {name: simulate(make, TABLES, HOURS, hourly) for name, make in ORDERS.items()}


def test_an_order_spends_its_budget_and_the_end_of_its_last_analysis() -> None:
    for part in (0.05, 0.5):
        budget = nightly_seconds(TABLES, HOURS) / 24 * part * HOURS
        longest = max(each.seconds for each in grown())
        for name, found in weeks(part).items():
            assert 0 < found.seconds <= budget + longest, name


def grown() -> list[Simulated]:
    """The tables as they are at the end."""
    found = tables(TABLES, HOURS, 24)
    for hour in range(HOURS):
        for each in found:
            each.change(hour)
    return found


def test_the_same_week_has_the_same_numbers() -> None:
    assert weeks(0.2) == weeks(0.2)


def test_without_a_budget_nothing_is_analysed_and_a_large_one_keeps_all_fresh() -> None:
    assert {(each.analyses, each.seconds) for each in weeks(0.0).values()} == {(0, 0.0)}
    found = weeks(1_000.0)
    assert found["hmstats refresh"].good == 1.0
    assert weeks(0.0)["hmstats refresh"].good < found["cron, all by name"].good < 1.0


@pytest.mark.slow
def test_the_page_has_the_numbers_of_the_simulation() -> None:
    found = week()
    assert markdown(found) in re.sub(r" +\n", "\n", PAGE.read_text())
    assert IMAGE.read_text() == draw(BUDGETS, {name: [each.good for each in some] for name, some in found.items()})
