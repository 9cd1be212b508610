"""`hmstats ask` and `hmstats compare` of lakehouse tables: numbers of one version, and which one that is."""

import json
from pathlib import Path

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import registered, written
from tests.collector.lake.iceberg.iceberg_tables import ROWS
from tests.collector.lake.test_object_store import analyzed
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.lake.opened import no_settings

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def address(our_metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{our_metastore.port}"


@pytest.fixture
def iceberg(our_metastore: Metastore, address: str, tmp_path: Path) -> str:
    """An analysed table, to which rows were added since."""
    catalog = HiveCatalog("test", uri=address)
    table = catalog.create_table(f"{our_metastore.database}.ice", schema=ROWS.schema, location=f"file:{tmp_path}/ice")
    table.append(ROWS)
    name = f"{our_metastore.database}.ice"
    with client.connect(address) as service:
        analyzed(service, name, no_settings)
    return name


@pytest.fixture
def delta(our_metastore: Metastore, address: str, tmp_path: Path) -> str:
    name = registered(our_metastore, written(tmp_path / "delta"), "delta")
    with client.connect(address) as service:
        analyzed(service, name, no_settings)
    return name


def run(address: str, *arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "--metastore", address])
    assert result.exit_code in (0, 1), result.output
    return result.stdout


QUESTIONS = {
    "count": "1,000 rows, exact",
    "distinct name": "45 distinct values, from 45 to 45, in 997 of 1000 cases",
    "bounds id": "from 0 to 999, exact",
    "top name -k 1": "of 900 values, exact",
    "quantile id --at 0.5": "of 1,000 values, ranks are off by 1.3 % at most, in 99 of 100 cases",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_says_of_which_snapshot_it_is(address: str, iceberg: str, question: str) -> None:
    kind, *rest = question.split()
    version = snapshot_of(address, iceberg)
    *_, answer, source = run(address, "ask", kind, iceberg, *rest).splitlines()
    assert (answer, source) == (QUESTIONS[question], f"from {version}")
    found = json.loads(run(address, "ask", kind, iceberg, *rest, "--json"))
    assert found["tools"] == [version]


def test_a_later_snapshot_does_not_change_whose_numbers_these_are(address: str, iceberg: str) -> None:
    version = snapshot_of(address, iceberg)
    HiveCatalog("test", uri=address).load_table(iceberg).append(ROWS)
    assert run(address, "ask", "count", iceberg).splitlines() == [
        "1,000 rows, not known to be exact",
        f"from {version}",
    ]
    assert run(address, "ask", "bounds", iceberg, "id").splitlines()[-1] == f"from {version}"


def test_rows_that_another_program_counted_are_of_no_snapshot(address: str, iceberg: str) -> None:
    with client.connect(address) as service:
        service.put_table_parameters(service.existing_table(iceberg).name, {"numRows": "1001"})
    assert run(address, "ask", "count", iceberg).splitlines() == ["1,001 rows, exact"]


def test_answers_about_delta_lake_say_their_version(address: str, delta: str) -> None:
    assert run(address, "ask", "distinct", delta, "p").splitlines()[-1].endswith(", Delta Lake version 2")
    assert run(address, "ask", "count", delta).splitlines()[-1].endswith(", Delta Lake version 2")


def test_both_sides_of_a_comparison_say_their_versions(address: str, iceberg: str, delta: str) -> None:
    version = snapshot_of(address, iceberg)
    lines = run(address, "compare", iceberg, delta).splitlines()
    assert f"A from {version}: id, name, price" in lines
    assert any(line.startswith("B from hmstats") and ", Delta Lake version 2: id, name, p" in line for line in lines)
    rows = [json.loads(line) for line in run(address, "compare", "--all", "--json", iceberg, delta).splitlines()]
    assert {row["left_tool"] for row in rows if row["column"] in (None, "id")} == {version}
    assert {row["left_tool"] for row in rows if row["column"] == "day"} == {None}


def snapshot_of(address: str, name: str) -> str:
    """The program and the snapshot that it has analysed, as statistics have it."""
    with client.connect(address) as service:
        (found,) = service.statistics(service.existing_table(name).name, ["id"])
    tool = found.columns[0].tool
    assert tool is not None
    assert ", Iceberg snapshot " in tool
    return tool
