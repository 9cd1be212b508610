"""Spark's parameters and what they say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outlets.spark.test_spark_histogram import histograms

from hmstats.model.spark.spark_statistics import EquiHeightHistogram, SparkColumn, SparkStatistics
from hmstats.outlets.spark import spark_histogram
from hmstats.outlets.spark.spark_properties import PREFIX, column_names, of_column, read, spark_parameters, write

COUNTS = st.none() | st.integers(0, 10**17)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
COLUMNS = st.builds(
    SparkColumn,
    version=st.sampled_from([1, 2]),
    distinct=COUNTS,
    low=st.none() | st.text(max_size=20),
    high=st.none() | st.text(max_size=20),
    nulls=COUNTS,
    average_length=COUNTS,
    max_length=COUNTS,
    histogram=st.none() | histograms(),
)
FROM_SPARK = {
    "spark.sql.statistics.totalSize": "46988",
    "spark.sql.statistics.numRows": "1000",
    "spark.sql.statistics.colStats.Id.version": "2",
    "spark.sql.statistics.colStats.Id.distinctCount": "1000",
    "spark.sql.statistics.colStats.Id.min": "0",
    "spark.sql.statistics.colStats.Id.max": "999",
    "spark.sql.statistics.colStats.Id.nullCount": "0",
    "spark.sql.statistics.colStats.Id.avgLen": "8",
    "spark.sql.statistics.colStats.Id.maxLen": "8",
    "spark.sql.statistics.colStats.s.version": "2",
    "spark.sql.statistics.colStats.s.distinctCount": "977",
    "spark.sql.statistics.colStats.s.nullCount": "0",
    "spark.sql.statistics.colStats.s.avgLen": "4",
    "spark.sql.statistics.colStats.s.maxLen": "4",
}
"""As Spark 4.3 stores them."""
READ = SparkStatistics(
    size_bytes=46988,
    rows=1000,
    columns={
        "Id": SparkColumn(distinct=1000, low="0", high="999", nulls=0, average_length=8, max_length=8),
        "s": SparkColumn(distinct=977, nulls=0, average_length=4, max_length=4),
    },
)


@given(
    st.builds(
        SparkStatistics,
        size_bytes=st.integers(0, 10**17),
        rows=COUNTS,
        columns=st.dictionaries(st.sampled_from(["a", "A", "a.b", "x.version", "é ", "histogram"]), COLUMNS),
    )
)
def test_statistics_come_back(statistics: SparkStatistics) -> None:
    assert read(write(statistics)) == statistics


def test_spark_is_understood_and_written_alike() -> None:
    assert read({"numRows": "7", **FROM_SPARK}) == READ
    assert write(READ) == FROM_SPARK
    assert spark_parameters({"numRows": "7", **FROM_SPARK}) == FROM_SPARK


def test_without_a_size_nothing_is_written() -> None:
    """Spark fails to load a table that has one of the keys, and no size."""
    assert write(SparkStatistics(rows=5, columns=READ.columns)) == {}


def test_a_column_of_a_dotted_name_is_none_of_another() -> None:
    found = write(SparkStatistics(size_bytes=1, columns={"a": SparkColumn(low="1"), "a.b": SparkColumn(low="2")}))
    assert sorted(found) == sorted({**of_column(found, "a"), **of_column(found, "a.b"), f"{PREFIX}totalSize": "1"})
    assert set(of_column(found, "a").values()) == {"1", "2"}
    assert of_column(found, "a") == {
        f"{PREFIX}colStats.a.version": "2",
        f"{PREFIX}colStats.a.min": "1",
    }


def test_a_histogram_in_parts_is_read() -> None:
    histogram = EquiHeightHistogram(1.0, (0.0, 1.0), (1.0, 2.0), (1, 1))
    text = spark_histogram.to_text(histogram)
    key = f"{PREFIX}colStats.a.histogram"
    parts = {f"{key}.part.0": text[:10], f"{key}.part.1": text[10:], f"{key}.numParts": "2"}
    given_ = {f"{PREFIX}totalSize": "1", f"{PREFIX}colStats.a.version": "2", **parts}
    assert read(given_).columns["a"].histogram == histogram
    assert of_column(given_, "a").keys() >= parts.keys()
    del given_[f"{key}.part.0"]
    assert read(given_).columns["a"].histogram is None


def test_what_is_unreadable_is_unknown() -> None:
    start = f"{PREFIX}colStats.a."
    found = read(
        {f"{PREFIX}totalSize": "-5", f"{start}version": "x", f"{start}nullCount": "", f"{start}histogram": "?"}
    )
    assert found == SparkStatistics(columns={"a": SparkColumn(version=1)})


SCHEMA = json.dumps({"type": "struct", "fields": [{"name": "Id", "type": "long"}, {"name": "naMe", "type": "string"}]})


def test_spark_says_its_columns_names() -> None:
    key = "spark.sql.sources.schema"
    parts = {f"{key}.numParts": "2", f"{key}.part.0": SCHEMA[:9], f"{key}.part.1": SCHEMA[9:]}
    for given_ in ({key: SCHEMA}, parts):
        assert column_names(given_) == {"id": "Id", "name": "naMe"}


@pytest.mark.parametrize("schema", ["", "{", "[]", '"fields"', '{"fields": 3}', '{"fields": [{}]}', "null"])
def test_a_schema_that_is_none_names_nothing(schema: str) -> None:
    assert column_names({"spark.sql.sources.schema": schema}) == {}
    assert column_names({}) == {}
