"""Writes that gather their own statistics, in a session that is followed: each row is counted once."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from tests.collector.autogather.following.test_session import marked, rows, stored, table_of

import hmstats
from hmstats.client import Metastore
from hmstats.collector import analyze, writing
from hmstats.collector.autogather import writer
from hmstats.collector.autogather.following.session import Autogather
from hmstats.collector.autogather.table_state import check_alone

pytestmark = pytest.mark.spark

_numbers = count(1)
SLOW_SECONDS = 3
"""How long a write takes from its files to its statistics: longer than the session that is followed would."""


@pytest.fixture
def name() -> str:
    return f"both_ways_{next(_numbers)}"


@pytest.fixture
def following(spark: Any) -> Iterator[Autogather]:
    with hmstats.autogather(spark) as found:
        yield found


def append(spark: Any, name: str, reads: str) -> None:
    """Append twenty rows, half of them nulls."""
    some = spark.range(90, 110, 1, 2).selectExpr("IF(id % 2 = 0, NULL, id) id", "CAST(3 AS INT) k")
    assert writing(some, settings={"hmstats.autogather.reads": reads}).insert_into(name).gathered


@pytest.fixture
def _slow_writes(monkeypatch: pytest.MonkeyPatch, following: Autogather) -> None:
    """Between its files and its statistics a write leaves the session that is followed time for its own."""

    def check_slowly(*states: Any) -> None:
        check_alone(*states)
        with suppress(TimeoutError):
            following.wait(SLOW_SECONDS)

    monkeypatch.setattr(writer, "check_alone", check_slowly)


@pytest.mark.usefixtures("_slow_writes")
@pytest.mark.parametrize("reads", ["files", "rows"])
def test_no_row_is_counted_twice(spark: Any, service: Metastore, following: Autogather, name: str, reads: str) -> None:
    rows(spark, 0, 90).write.saveAsTable(name)
    following.wait(60)
    append(spark, name, reads)
    following.wait(60)
    (found,) = service.table_statistics(table_of(name), ["id"])
    assert (stored(service, name)[""][0], found.data.nulls) == (110, 10)
    assert marked(service, name)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [[], ["k"]], ids=["plain", "partitioned"])
@pytest.mark.parametrize("reads", ["files", "rows"])
def test_what_a_write_has_stored_stays(spark: Any, service: Metastore, name: str, reads: str, keys: list[str]) -> None:
    """The session is followed from after the table was analysed."""
    rows(spark, 0, 90).write.partitionBy(*keys).saveAsTable(name)
    analyze(spark, name)
    with hmstats.autogather(spark):
        append(spark, name, reads)
        before = stored(service, name), marked(service, name)
    assert before[0][""][0] == 110
    assert (stored(service, name), marked(service, name)) == before
