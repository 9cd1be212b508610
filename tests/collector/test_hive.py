"""A real Hive Metastore takes what the collector finds, answers with it, and merges its bit vectors."""

from pathlib import Path
from typing import Any

import pytest
from tests.collector.parted import NAMES, ROWS, parted, stored
from tests.fixtures.metastores import Metastore

from hmstats.collector.run import analyze
from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

COLUMNS = ("flag", "tiny", "number", "big", "price", "day", "text", "word", "raw", "nothing")
COUNTED = tuple(column for column in COLUMNS if column not in ("flag", "raw"))


@pytest.mark.parametrize("generation", [2.3, 4.0])
def test_it_answers_with_our_numbers(
    request: pytest.FixtureRequest, spark: Any, spark_metastore: str, tmp_path: Path, generation: float
) -> None:
    port: int = request.getfixturevalue(f"hive_{generation}".replace(".", "_"))
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
        # The same registers as those of the table, in which every row was counted.
        assert merged == whole
        assert merged["word"] < sum(parts["word"])
    else:  # bit vectors came later
        assert all(max(parts[column]) <= merged[column] <= sum(parts[column]) for column in COUNTED)


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
