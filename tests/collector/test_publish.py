"""What is pushed of a finding says how it was made."""

import pyarrow as pa
import pytest

from hmstats import __version__
from hmstats.collector.publish import item
from hmstats.collector.report import Finding
from hmstats.model.column_statistics import Kind
from hmstats.sketch.accumulator import TableAccumulator


def finding(*numbers: int) -> Finding:
    made = TableAccumulator.empty({"l": Kind.LONG, "b": Kind.BOOLEAN})
    made.update(pa.table({"l": pa.array(numbers, pa.int64()), "b": [True] * len(numbers)}))
    return Finding(made.rows, 10, 1, made.statistics({"l": "bigint", "b": "boolean"}), {"more": "x", "less": None})


@pytest.mark.parametrize(
    ("fraction", "exact"), [(1.0, {"l": False, "b": True}), (0.25, {"l": False, "b": False})], ids=["all", "sampled"]
)
def test_statistics_are_signed_with_how_they_were_made(fraction: float, exact: dict[str, bool]) -> None:
    sent = item(finding(1, 1, 2), "k=0", fraction)
    made = {each.column: each.provenance for each in sent.statistics.columns}
    assert {column: each.exact for column, each in made.items() if each} == exact
    assert {(each.rows_seen, each.sample_fraction, each.tool) for each in made.values() if each} == {
        (3, fraction, f"hmstats {__version__}")
    }


def test_an_item_has_its_place_and_parameters() -> None:
    sent = item(finding(1, 2), None)
    assert sent.partition is None
    assert sent.parameters == {"numRows": "2", "totalSize": "10", "numFiles": "1", "more": "x", "less": None}
    assert [(each.column, each.top_k is not None) for each in sent.statistics.columns] == [("l", True), ("b", True)]
