"""What is pushed of a finding says how it was made."""

import pyarrow as pa
import pytest

from hmstats.collector.delivery.items import item
from hmstats.collector.findings.without_scan import UNTRUE
from hmstats.collector.report import Finding
from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.version import __version__

BASIC = '{"BASIC_STATS":"true"}'


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
    counts = {"numRows": "2", "totalSize": "10", "numFiles": "1"}
    assert sent.parameters == {**counts, "more": "x", "less": None, "COLUMN_STATS_ACCURATE": BASIC}
    assert [(each.column, each.top_k is not None) for each in sent.statistics.columns] == [("l", True), ("b", True)]


@pytest.mark.parametrize(
    ("counts", "fraction", "marks"),
    [((3, 10, 1), 0.5, None), ((3, None, None), 1.0, "{}"), ((None, 10, 1), 1.0, None)],
    ids=["of a sample", "no files, as of a view", "no rows counted"],
)
def test_counts_that_may_be_wrong_lose_their_mark(
    counts: tuple[int | None, int | None, int | None], fraction: float, marks: str | None
) -> None:
    sent = item(Finding(*counts, ()), None, fraction).parameters
    assert sent.get("COLUMN_STATS_ACCURATE") == marks
    assert ("COLUMN_STATS_ACCURATE" in sent) == (counts[0] is not None), "else the mark stays"


def test_marks_of_columns_that_are_no_longer_true_are_removed() -> None:
    sent = item(Finding(3, 10, 1, (), UNTRUE), None)
    assert sent.parameters["COLUMN_STATS_ACCURATE"] is None
