"""The public interface: its names, and the types that programs written against it rely on (mypy checks this file)."""

import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, assert_type

import pytest

import hmstats
from hmstats.model.catalog.objects import Table
from hmstats.model.statistics.answers import Bounds, DistinctCount, Quantiles, RowCount
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.frequent_values import FrequentValues

if TYPE_CHECKING:
    from hmstats.collector import CheckReport, Report, Written


def a_client(metastore: hmstats.Metastore, names: Sequence[str]) -> None:
    """What a program may write; it is checked and never run."""
    assert_type(hmstats.connect("thrift://a:9083,thrift://b:9083"), hmstats.Metastore)
    assert_type(metastore.database_names(), list[str])
    assert_type(metastore.partition_names("db.t"), list[str])
    assert_type(metastore.find_table("db.t"), Table | None)
    assert_type(metastore.table_statistics("db.t", ["a"]), tuple[ColumnStatistics, ...])
    assert_type(metastore.distinct_count("db.t", "a", names), DistinctCount)
    metastore.delete_statistics("db.t", columns=["a"], partitions=names)
    table = metastore.table("db.t")
    assert_type(table.count(where="day > 1"), RowCount)
    assert_type(table.bounds("a"), Bounds)
    assert_type(table.quantile("a", [0.5]), Quantiles)
    assert_type(table.top("a", k=3, partitions=names), FrequentValues)


def a_followed_job(spark: Any) -> "Sequence[Written]":
    """What a job that changes nothing else may write; it is checked and never run."""
    with hmstats.autogather(spark, reliable=True) as following:
        return following.wait(60)


def a_job(spark: Any) -> "tuple[Report, CheckReport]":
    """What a Spark job may write; it is checked and never run."""
    return hmstats.analyze(spark, "db.t"), hmstats.check(spark, "db.t")


@pytest.mark.parametrize("name", hmstats.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(hmstats, name) is not None
    assert name in dir(hmstats)


def test_a_name_that_is_not_public_is_missed() -> None:
    with pytest.raises(AttributeError, match="module hmstats has no attribute nope"):
        _ = hmstats.nope


def test_a_client_loads_no_spark() -> None:
    program = "import sys, hmstats; hmstats.connect('thrift://a:1'); print('pyspark' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )
