"""docs/answers.md shows what happens: its Python is run, and so are its commands."""

import doctest
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.model.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.column_types import kind_of
from hmstats.model.names import table_name
from hmstats.model.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.wire.idl import hive_metastore as api

PAGE = Path(__file__).parents[2] / "docs" / "answers.md"
COLUMNS = {"age": "int", "app": "string", "session": "bigint", "country": "string"}
DAYS = [f"2024-01-0{day}" for day in (1, 2, 3, 4)]
ROWS = 1_000
MADE = Provenance(exact=False, rows_seen=ROWS, sample_fraction=1.0, tool="tests 1")
_COMMANDS = re.compile(r"```console\n(.*?)```", re.DOTALL)

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def web(our_metastore: Metastore) -> Iterator[str]:
    """The address of a service with the table of the page: half of a day's sessions go on on the next day."""
    our_metastore.client().create_database(api.Database(name="web", description="", parameters={}))
    filled = replace(our_metastore, database="web")
    table = api.Table(
        tableName="visits",
        dbName="web",
        owner="tester",
        sd=filled.storage(COLUMNS),
        partitionKeys=[api.FieldSchema(name="ds", type="date", comment="")],
        parameters={},
        tableType="MANAGED_TABLE",
    )
    our_metastore.client().create_table(table)
    filled.add_partitions(*((day,) for day in DAYS), table="visits", columns=COLUMNS)
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    with connect(address) as metastore:
        name = table_name("web", "visits")
        metastore.put_partition_statistics(name, (_day(number, day) for number, day in enumerate(DAYS)))
        counts = {"numRows": str(ROWS), "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
        metastore.put_partition_parameters(name, ["ds"], {f"ds={day}": counts for day in DAYS})
    yield address
    our_metastore.client().drop_database("web", True, True)


def _day(number: int, day: str) -> StatisticsSet:
    values: Mapping[str, Any] = {
        "age": 18 + np.arange(ROWS) % 60,
        "app": ["mail"] * 600 + ["maps"] * 300 + ["chat"] * 100,
        "session": number * 500 + np.arange(ROWS),
    }
    columns = (_collected(column, each) for column, each in values.items())
    return StatisticsSet(tuple(columns), f"ds={day}")


def _collected(column: str, values: Any) -> ColumnStatistics:
    kind = kind_of(COLUMNS[column])
    assert kind is not None
    accumulator = ColumnAccumulator.empty(kind)
    accumulator.update(pa.array(values))
    top = None if accumulator.top_k is None else accumulator.top_k.to_bytes()
    return ColumnStatistics(column, COLUMNS[column], accumulator.statistics(), top, MADE)


def test_the_page_says_what_happens(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctest.testfile(
        str(PAGE),
        module_relative=False,
        globs={"address": web},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert (found.attempted > 10, found.failed) == (True, 0)
    monkeypatch.setenv("HMSTATS__METASTORE", web)
    shown = [part for block in _COMMANDS.findall(PAGE.read_text()) for part in block.split("$ ")[1:]]
    assert len(shown) == 5
    for part in shown:
        command, _, output = part.partition("\n")
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.stdout == output, result.exception
    _check_problems()


def _check_problems() -> None:
    """Questions that have no answer are one sentence each."""
    problems = {
        "ask top web.visits country": "have no top-k sketch of column country: ANALYZE TABLE web.visits PARTITION",
        "ask bounds web.visits country": "web.visits has no statistics of column country in whole: ANALYZE TABLE",
        "ask distinct web.nope x": "table web.nope is not in the metastore at thrift://",
        "ask distinct web.visits x": "column x must be one of web.visits: age, app, session, country, ds",
        "ask count web.visits --partition ds=2020-01-01": "table web.visits has no partition ds=2020-01-01",
        "ask count web.visits --partition ds=2024-01-01 --where ds=1": "takes names of partitions or a filter",
        "ask top web.visits app --where \"ds > '2030-01-01'\"": "no partition of web.visits is asked about",
        "ask quantile web.visits age --at x": "--at takes fractions from 0 to 1, separated by commas, found 'x'",
        "ask quantile web.visits age --at 2": "must be from 0 to 1",
        'ask count web.visits --where "nope = 1"': "Invalid key name in filter",
    }
    for command, problem in problems.items():
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.stdout == ""
        assert problem in str(result.exception), command
        assert "\n" not in str(result.exception)
