"""A stock Spark's own statements about statistics: what it says is everyone's, and what was pushed is Spark's."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fixtures.servers import finding_tests, serving

from hmstats.client import connect
from hmstats.client.metastore import Metastore
from hmstats.model.catalog.names import table_name
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.outlets.spark.spark_properties import spark_parameters
from hmstats.sketch.quantiles.kll import KllHistogram

pytestmark = [pytest.mark.spark, pytest.mark.slow]

T, H, HH = (table_name("shop", each) for each in ("t", "h", "hh"))
COLUMNS = ("id", "b", "ti", "si", "i", "f", "d", "dec", "wide", "s", "vc", "bin", "dt", "ts")


@dataclass
class Lived:
    """What Spark saw at each stop, what the metastore had then, and who had made it."""

    seen: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, Mapping[str, ColumnStatistics]] = field(default_factory=dict)
    parameters: dict[str, Mapping[str, str]] = field(default_factory=dict)
    tools: dict[str, dict[str, str | None]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A whole session; between its first two stops, what Spark said of one table is pushed again, and another's is."""
    folder = tmp_path_factory.mktemp("spark-statistics")
    with serving(folder, settings={"send_sketches": True}) as port:
        address = f"thrift://127.0.0.1:{port}"
        command = [sys.executable, "-m", "tests.clients.spark_statistics_session", address, str(folder / "warehouse")]
        with (folder / "spark.log").open("w") as log, connect(address) as metastore:
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log, "text": True}
            session = subprocess.Popen(command, cwd=folder, env=finding_tests(), **pipes)
            try:
                yield _live(session, metastore, folder)
            finally:
                session.kill()
                session.communicate(timeout=60)


def _live(session: "subprocess.Popen[str]", metastore: Metastore, folder: Path) -> Lived:
    assert session.stdout is not None
    assert session.stdin is not None
    lived = Lived()
    for line in session.stdout:
        seen = json.loads(line)
        stop = next(iter(seen))
        lived.seen[stop] = seen
        for name in (T, H, HH):
            _look(lived, metastore, f"{stop} {name.table}", name)
        if stop == "analyzed":
            _push(metastore, lived.stored["analyzed t"])
        session.stdin.write("\n")
        session.stdin.flush()
    assert session.wait(timeout=60) == 0, (folder / "spark.log").read_text()[-3000:]
    return lived


def _look(lived: Lived, metastore: Metastore, place: str, name: Any) -> None:
    table = metastore.find_table(name)
    if table is None:
        return
    lived.parameters[place] = table.parameters
    lived.stored[place] = {each.column: each for each in metastore.table_statistics(name, COLUMNS)}
    made = metastore.provenance(name, list(lived.stored[place]), None)
    lived.tools[place] = {each.column: each.provenance.tool for each in made}


def _push(metastore: Metastore, of_spark: Mapping[str, ColumnStatistics]) -> None:
    metastore.put_table_statistics(T, StatisticsSet(tuple(of_spark.values())))
    sketch = KllHistogram()
    sketch.add(np.arange(50))
    ids = LongStatistics(low=0, high=49, nulls=0, ndv=50, histogram=sketch.to_bytes())
    texts = StringStatistics(max_length=3, average_length=2.8, nulls=0, ndv=40)
    metastore.put_table_parameters(H, {"numRows": "50", "totalSize": "2048"})
    columns = (ColumnStatistics("id", "bigint", ids), ColumnStatistics("s", "string", texts))
    metastore.put_table_statistics(H, StatisticsSet(columns))


def test_what_spark_says_is_everyones(lived: Lived) -> None:
    found: dict[str, Any] = {column: each.data for column, each in lived.stored["analyzed t"].items()}
    assert set(found) == set(COLUMNS)
    assert lived.tools["analyzed t"] == dict.fromkeys(COLUMNS, "Spark ANALYZE")
    assert _with_ndv(found["id"]) == LongStatistics(low=1, high=100, nulls=0, ndv=0)
    assert _with_ndv(found["dt"]) == DateStatistics(low=10958, high=11057, nulls=0, ndv=0)
    assert _with_ndv(found["ts"]) == TimestampStatistics(low=1, high=100, nulls=0, ndv=0)
    assert (found["f"].low, found["f"].high) == (float(np.float32(0.1)), 10.0)
    assert [str(found[each].high) for each in ("dec", "wide")] == ["150.00", "150.00000"]
    assert _with_ndv(found["s"]) == StringStatistics(max_length=4, average_length=3.0, nulls=0, ndv=0)
    assert found["b"] == BooleanStatistics(nulls=0)
    parameters = lived.parameters["analyzed t"]
    assert parameters["numRows"] == parameters["spark.sql.statistics.numRows"] == "100"
    assert parameters["totalSize"] == parameters["spark.sql.statistics.totalSize"]


def _with_ndv(data: Any) -> Any:
    """With no distinct values, when there is an estimate that is near enough to 100."""
    assert 85 <= data.ndv <= 115
    return replace(data, ndv=0)


def test_what_is_pushed_again_comes_back_as_spark_said_it(lived: Lived) -> None:
    """But for what the metastore has no place for: the bounds of booleans, distinct binaries, Spark's histograms."""
    said, shown = lived.seen["analyzed"]["analyzed"], lived.seen["pushed"]["pushed"]
    assert set(lived.tools["pushed t"].values()) == {None}
    lost = {"b": {"min", "max", "distinct_count"}, "bin": {"distinct_count"}}
    for column, each in said.items():
        expected = {key: value for key, value in each.items() if key not in lost.get(column.lower(), ())}
        assert shown[column] == {key: expected[key] for key in expected if key not in ("low", "high")}


def test_what_was_pushed_is_sparks_with_histograms(lived: Lived) -> None:
    assert lived.seen["pushed"]["of_hive"] == {
        "id": {
            "min": "0",
            "max": "49",
            "num_nulls": "0",
            "distinct_count": "50",
            "avg_col_len": "8",
            "max_col_len": "8",
            "low": "lower_bound: 0.0",
            "high": " upper_bound: 49.0",
        },
        "s": {"num_nulls": "0", "distinct_count": "40", "avg_col_len": "3", "max_col_len": "3"},
    }


def test_a_table_that_spark_alters_is_as_before(lived: Lived) -> None:
    before, after = lived.seen["pushed"], lived.seen["altered"]
    assert after["altered"] == {**before["pushed"], "later": {}}
    assert after["of_hive"] == before["of_hive"]
    assert not any("hmstats" in key for key in after["properties"])
    assert spark_parameters(lived.parameters["altered t"]) == spark_parameters(lived.parameters["analyzed t"]) != {}
    assert spark_parameters(lived.parameters["altered hh"]) == spark_parameters(lived.parameters["pushed h"]) == {}
    assert lived.stored["altered hh"] == lived.stored["pushed h"]
    assert lived.stored["altered t"] == lived.stored["pushed t"]


def test_a_column_that_is_carried_along_is_as_it_was_pushed(lived: Lived) -> None:
    carried = lived.seen["carried"]["carried"]
    assert carried["id"] == lived.seen["pushed"]["of_hive"]["id"]
    assert lived.stored["carried hh"]["id"] == lived.stored["pushed h"]["id"]
    assert lived.tools["carried hh"] == {"id": None, "s": "Spark ANALYZE"}
    assert carried["s"]["max_col_len"] == "3"


def test_an_insert_ends_what_spark_is_shown(lived: Lived) -> None:
    found = lived.seen["inserted"]
    assert not any(found["inserted"].values())
    assert found["of_hive"] == {"id": {}, "s": {}}
    assert set(lived.stored["inserted hh"]) == {"id"}
    assert set(lived.stored["inserted t"]) == set(COLUMNS)
    assert "COLUMN_STATS_ACCURATE" not in lived.parameters["inserted t"]
    assert lived.seen["rows"] == {"rows": 101}
