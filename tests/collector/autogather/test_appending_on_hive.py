"""A real Hive Metastore takes what the collector finds, answers with it, and merges its bit vectors."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.collector.parted import NAMES, ROWS, parted, stored
from tests.fixtures.hive import CHECKOUT, hive
from tests.fixtures.metastores import Metastore

from hmstats.collector.analysis import analyze
from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

COLUMNS = ("flag", "tiny", "number", "big", "price", "day", "text", "word", "raw", "nothing")
COUNTED = tuple(column for column in COLUMNS if column not in ("flag", "raw", "nothing"))
"""Columns with distinct counts; 4.0.1 fails when it is asked to merge partitions without a value."""

NDV_ERROR = 0.1
"""Three standard errors of 2^10 registers, to which Hive folds all bit vectors when it merges them."""


@pytest.fixture
def hive_that_merges(tmp_path: Path) -> Iterator[int]:
    """The port of a Hive Metastore 4.0.1 that looks at bit vectors, which it does not by default."""
    (tmp_path / "metastore").mkdir()
    with hive("4.0", tmp_path / "metastore", "metastore.stats.fetch.bitvector=true") as port:
        yield port


@pytest.mark.parametrize(("generation", "server"), [(2.3, "hive_2_3"), (4.0, "hive_that_merges")])
def test_it_answers_with_our_numbers(
    request: pytest.FixtureRequest, spark: Any, spark_metastore: str, tmp_path: Path, generation: float, server: str
) -> None:
    port: int = request.getfixturevalue(server)
    ours = int(spark_metastore.rpartition(":")[2])
    found = {}
    for each, place in ((port, "hive"), (ours, "ours")):
        name = parted(each, tmp_path / place, COLUMNS, generation=generation if place == "hive" else 4.0)
        for _ in range(2):
            analyze(spark, f"{name.database}.{name.table}", metastore=f"thrift://127.0.0.1:{each}")
        found[place] = numbers(stored(each, name))
        if place == "hive":
            merged = aggregate(port, name.database, generation)
    assert found["hive"] == found["ours"]
    assert {place: rows for place, (rows, _) in found["hive"].items()} == {
        **dict.fromkeys(NAMES, str(ROWS)),
        "": str(len(NAMES) * ROWS),
    }
    whole = {column: data["ndv"] for column, data in found["hive"][""][1].items() if column in COUNTED}
    parts = {column: [found["hive"][name][1][column]["ndv"] for name in NAMES] for column in COUNTED}
    if generation >= 4:
        # Of the union, as Hive estimates it; the largest partition has a quarter of the values, or all of them.
        assert merged == pytest.approx(whole, rel=NDV_ERROR)
        assert merged["tiny"] < sum(parts["tiny"]) / 2
        assert merged["big"] > max(parts["big"]) * 2
    else:  # bit vectors came later
        assert all(max(parts[column]) <= merged[column] <= sum(parts[column]) for column in COUNTED)


def test_appends_are_merged_into_what_it_has(tmp_path: Path) -> None:
    """Of 3.1.3, the newest that a stock Spark can talk to."""
    (tmp_path / "metastore").mkdir()
    with hive("3.1", tmp_path / "metastore", "metastore.stats.fetch.bitvector=true") as port:
        _assert_appends_are_merged(port, tmp_path)


def _assert_appends_are_merged(port: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.collector.autogather.appending_session", f"thrift://127.0.0.1:{port}"]
    done = subprocess.run([*command, str(tmp_path)], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    writes = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert writes == [{"gathered": True, "rows": rows, "reason": None} for rows in (5000, 5000, 2000, 2000)]
    for table, places in (("plain", {"": 7000}), ("parted", {"": 7000, "k=0": 2333, "k=1": 2334, "k=2": 2333})):
        found = stored(port, TableName("hive", "appends", table))
        assert {place: int(rows) for place, (rows, _) in found.items()} == places
        for place, (_, columns) in found.items():
            assert columns["id"]["ndv"] == pytest.approx(6000 if place == "" else 2000, rel=NDV_ERROR)
        assert (found[""][1]["id"]["low"], found[""][1]["id"]["high"]) == (0, 5999)


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    """Counts and numbers, without the sketches that a Hive Metastore sends or does not."""
    return {
        place: (rows, {name: {k: v for k, v in data.items() if k != "bit_vector"} for name, data in columns.items()})
        for place, (rows, columns) in found.items()
    }


def aggregate(port: int, database: str, generation: float) -> dict[str, int]:
    """The distinct counts that a metastore makes of those of all partitions."""
    asked = Metastore("", port, generation, database=database)
    request = api.PartitionsStatsRequest(dbName=database, tblName="t", colNames=list(COUNTED), partNames=list(NAMES))
    with asked.clients:
        answer = asked.client().get_aggr_stats_for(request)
    assert answer.partsFound == len(NAMES)
    return {each.colName: _data(each).numDVs for each in answer.colStats}


def _data(struct: Any) -> Any:
    return next(member for member in vars(struct.statsData).values() if member is not None)
