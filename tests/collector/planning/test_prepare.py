"""A missing location is empty only if the metastore says so."""

import pytest

from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.prepare import files_of
from hmstats.model.parameters.accurate import PARAMETER

MARKED = {PARAMETER: '{"BASIC_STATS":"true"}'}
MISSING = FileNotFoundError(2, "there is no such directory")


@pytest.mark.parametrize(
    ("parameters", "empty"),
    [
        ({}, False),
        ({"numRows": "0"}, True),
        ({"numRows": "1"}, False),
        ({"numRows": "-1"}, False),
        ({"numFiles": "0", "totalSize": "0"}, True),
        ({"numFiles": "0", "totalSize": "0", "numRows": "-1"}, True),
        ({"numFiles": "1", "totalSize": "0"}, False),
        # An INSERT OVERWRITE without rows: files are counted, and the number of rows stays, without its mark.
        ({"numFiles": "0", "totalSize": "0", "numRows": "1"}, True),
        ({"numFiles": "0", "totalSize": "0", "numRows": "1", **MARKED}, False),
        ({"numFiles": "1", "totalSize": "9", "numRows": "0"}, False),
        ({"numFiles": "-1", "numRows": "0", **MARKED}, True),
    ],
)
def test_a_missing_location(parameters: dict[str, str], empty: bool) -> None:
    found = files_of(Piece("k=1", ("1",), "file:/absent/k=1", parquet=True, parameters=parameters), MISSING)
    assert (found == ()) is empty
    assert empty or "does not exist, and the metastore does not say that nothing is in it" in str(found)
