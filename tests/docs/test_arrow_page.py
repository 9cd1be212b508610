"""docs/engines/arrow.md shows what happens: every example is run, against a service of its own."""

import doctest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.model.catalog.names import table_name
from hmstats.outlets.arrow import data_statistics
from hmstats.wire.idl import hive_metastore as api

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "arrow.md"
COLUMNS = {"vendor_id": "int", "passenger_count": "bigint"}
RIDES = pa.table({"vendor_id": [5, 1, 5, 1, 5], "passenger_count": [1, 1, 2, 0, None]})


@pytest.fixture
def web(our_metastore: Metastore) -> Iterator[str]:
    """The address of a service with the tables of the page."""
    our_metastore.client().create_database(api.Database(name="web", description="", parameters={}))
    filled = replace(our_metastore, database="web")
    accurate = {"numRows": "5", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    filled.table("rides", COLUMNS, parameters=accurate)
    filled.table("rides_by_day", COLUMNS, keys=("ds",))
    filled.add_partitions(("2024-01-01",), ("2024-01-02",), table="rides_by_day", columns=COLUMNS)
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    with connect(address) as metastore:
        metastore.put_table_statistics(table_name("web", "rides"), data_statistics(RIDES).statistics)
    yield address
    our_metastore.client().drop_database("web", True, True)


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
def test_every_example_does_what_the_page_says(web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(
        str(PAGE),
        module_relative=False,
        globs={"address": web, "folder": tmp_path},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert found.attempted > 25
    assert found.failed == 0
