"""`hmstats learn` and `blame`: from a recorded event log to what to do, and to the plan of a refresh."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.client.refresh_plan import plan_round
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet, StringStatistics

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
LOG = Path(__file__).parents[3] / "testdata" / "queries" / "spark-4.3.jsonl"
ORDERS = {"id": "bigint", "customer": "bigint", "status": "string", "price": "double", "note": "bigint"}
STATISTICS = [
    ColumnStatistics("id", "bigint", LongStatistics(low=0, high=19_999, nulls=0, ndv=20_000)),
    ColumnStatistics("customer", "bigint", LongStatistics(low=0, high=1_499, nulls=0, ndv=1_500)),
    ColumnStatistics("status", "string", StringStatistics(nulls=0, ndv=3, max_length=9, average_length=5.0)),
    ColumnStatistics("note", "bigint", LongStatistics(low=0, high=19_999, nulls=400, ndv=19_600)),
]


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    found = CliRunner().invoke(app, [*arguments, "--metastore", address])
    assert found.exit_code == 0, (found.output, found.exception)
    return found


def objects(metastore: Metastore, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(metastore, *arguments, "--json").stdout.splitlines()]


@pytest.fixture
def log(our_metastore: Metastore, tmp_path: Path) -> Path:
    """The log, of queries over tables of this database, and its tables; those without statistics are customers."""
    our_metastore.table("orders", ORDERS, parameters={"numRows": "20000", "numFiles": "1", "totalSize": "9000"})
    our_metastore.table("customers", {"customer_id": "bigint", "name": "string", "nation": "bigint"})
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        name = TableName("hive", our_metastore.database, "orders")
        service.put_table_statistics(name, StatisticsSet(tuple(STATISTICS)))
    path = tmp_path / "log"
    path.write_text(LOG.read_text().replace("spark_catalog.default.", f"spark_catalog.{our_metastore.database}."))
    # As if they had run after the statistics were made, and lately.
    now_ms = int(time.time() * 1_000) + 60_000
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for each in lines:
        if "time" in each:
            each["time"] = now_ms + each["time"] % 100_000
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_what_is_blamed_and_what_a_refresh_makes_of_it(our_metastore: Metastore, log: Path) -> None:
    database = our_metastore.database
    (dry,) = objects(our_metastore, "learn", str(log), "--dry-run")
    assert (dry["queries"], dry["recorded"]) == (9, 0)
    assert objects(our_metastore, "blame", f"{database}.*") == []
    for _ in range(2):
        (learned,) = objects(our_metastore, "learn", str(log))
        assert learned["recorded"] == learned["found"] == dry["found"] > 0
        assert learned["elsewhere"] == [f"hive.{database}.visits"]
    found = objects(our_metastore, "blame", f"{database}.*")
    by_column = {(each["table"], each["column"]): each["verdict"] for each in found}
    assert by_column == {
        ("orders", "status"): "wrong",  # nobody has counted it
        ("orders", "price"): "missing",
        ("customers", "customer_id"): "missing",
    }
    assert [each["weight"] for each in found] == sorted((each["weight"] for each in found), reverse=True)
    shown = run(our_metastore, "blame", f"{database}.*").stdout
    assert f"to do: hmstats refresh {database}.orders" in shown
    assert "has statistics that do not agree with what queries see" in shown

    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        wanted = RefreshRequest(((DatabaseName("hive", database), "orders"),), look_seconds=None)
        (work,) = plan_round(service, wanted, int(time.time() * 1_000)).plan.taken
    assert work.terms.use > 1


def test_estimates_of_joins_without_keys_have_few_digits(our_metastore: Metastore, log: Path) -> None:
    name = TableName("hive", our_metastore.database, "customers")
    at_ms = int(time.time() * 1_000)
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        blame = Blame(name, None, Use.ROWS, Verdict.MISSING, 1e308, 13, 1e307, 1234.5)
        service.blame.record([Seen(blame, "spark", "a", at_ms)])
    shown = run(our_metastore, "blame", f"{our_metastore.database}.*").stdout
    assert " 1.00e+308 " in shown
    assert " 1.00e+307 " in shown
    assert " 1,234.5 " in shown


def test_the_past_is_not_asked_for(our_metastore: Metastore, log: Path) -> None:
    run(our_metastore, "learn", str(log))
    assert objects(our_metastore, "blame", "--since", "1s", f"{our_metastore.database}.other*") == []


def test_nothing_to_read(our_metastore: Metastore, tmp_path: Path) -> None:
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    found = CliRunner().invoke(app, ["learn", str(tmp_path / "none"), "--metastore", address])
    assert found.exit_code != 0
    assert "found nothing at" in str(found.exception)


@pytest.mark.parametrize("text", ["hello\n", '{"a": 1}\n', "{broken\n"])
def test_a_file_that_is_no_log_teaches_nothing_and_says_so(our_metastore: Metastore, tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text)
    found = CliRunner().invoke(app, ["learn", str(file), "--metastore", f"thrift://127.0.0.1:{our_metastore.port}"])
    assert isinstance(found.exception, StatementError)
    assert "notes.txt must be an event log of Spark" in str(found.exception)


def test_an_empty_log_is_one(our_metastore: Metastore, tmp_path: Path) -> None:
    (tmp_path / "app.inprogress").touch()
    assert "0 queries" in run(our_metastore, "learn", str(tmp_path / "app.inprogress")).stdout
