"""Tables of other catalogs than the default one: lists and patterns find them, and output names them in full."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import ALONE, Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.outlets.export.file import read
from hmstats.outlets.people.times import utc_text
from hmstats.web.reading.plan import refresh_plan
from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"age": "int"}
NUMBERS = StatisticsSet((ColumnStatistics("age", "int", LongStatistics(nulls=0, ndv=3, low=1, high=9)),))
OTHER_NUMBERS = StatisticsSet((ColumnStatistics("age", "int", LongStatistics(nulls=0, ndv=4, low=0, high=9)),))
PLACES = pytest.mark.parametrize("metastore", [*ALONE, pytest.param("hive-4.0", marks=pytest.mark.hive)], indirect=True)
ON_SQLITE = pytest.mark.parametrize("metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def lake(metastore: Metastore, tmp_path: Path) -> Iterator[str]:
    """A catalog with the table `shop.orders`, which has statistics."""
    catalog, asked, place = f"c_{metastore.database}", metastore.client(), f"file:{tmp_path}"
    asked.create_catalog(api.CreateCatalogRequest(catalog=api.Catalog(name=catalog, locationUri=place)))
    asked.create_database(api.Database(name="shop", catalogName=catalog, locationUri=f"{place}/shop", parameters={}))
    table = api.Table(
        tableName="orders",
        dbName="shop",
        catName=catalog,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="MANAGED_TABLE",
    )
    asked.create_table(table)
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.put_table_statistics(TableName(catalog, "shop", "orders"), NUMBERS)
    yield catalog
    asked.drop_table(f"@{catalog}#shop", "orders", True)
    asked.drop_database(f"@{catalog}#shop", True, True)
    asked.drop_database(f"@{catalog}#default", True, True)
    asked.drop_catalog(api.DropCatalogRequest(name=catalog))


def run(metastore: Metastore, *arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "--metastore", f"thrift://127.0.0.1:{metastore.port}"])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def tables(output: str) -> list[str]:
    return [json.loads(line)["table"] for line in output.splitlines()]


@PLACES
def test_a_list_finds_them(metastore: Metastore, lake: str) -> None:
    own = f"{metastore.database}.{metastore.table('orders', COLUMNS)}"
    theirs = f"{lake}.shop.orders"
    for pattern in (f"{lake}.shop.*", f"{lake}.*.ord*", f"`{lake}`.`shop`.`orders`"):
        assert tables(run(metastore, "list", pattern, "--json")) == [theirs]
    if metastore.ours:  # a Hive that holds a table without a type lists none at all
        assert {own, theirs} <= {*tables(run(metastore, "list", "--json"))}
    with pytest.raises(StatementError, match=f"no table .* matches {lake}.nope.x"):
        run(metastore, "list", f"{lake}.nope.x")


@PLACES
def test_an_export_has_them(metastore: Metastore, lake: str, tmp_path: Path) -> None:
    everything, some = str(tmp_path / "all.json"), str(tmp_path / "some.json")
    run(metastore, "export", everything)
    run(metastore, "export", some, f"{lake}.shop.*")
    name = TableName(lake, "shop", "orders")
    assert name in {each.name for each in read(everything)}
    assert {each.name for each in read(some)} == {name}
    with pytest.raises(StatementError, match=f"database {lake}.nope is not in the metastore"):
        run(metastore, "export", some, f"{lake}.nope.*")


@ON_SQLITE
def test_a_restore_of_everything_has_them(metastore: Metastore, lake: str) -> None:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        writes = service.past.history(TableName(lake, "shop", "orders"), None, 1).writes
        service.delete_statistics(TableName(lake, "shop", "orders"))
    arguments = ["restore", "--all", "--as-of", utc_text(writes[0].at_ms), "--dry-run", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--metastore", f"thrift://127.0.0.1:{metastore.port}"])
    assert done.exit_code in {0, ExitCode.PARTLY_DONE}  # other tests have left locked tables
    assert f"{lake}.shop.orders" in tables(done.stdout)


@ON_SQLITE
def test_a_database_of_theirs_is_all_of_its_tables(metastore: Metastore, lake: str) -> None:
    table, database = f"{lake}.shop.orders", f"{lake}.shop.*"
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        writes = service.past.history(TableName(lake, "shop", "orders"), None, 1).writes
    restored = run(metastore, "restore", database, "--as-of", utc_text(writes[0].at_ms), "--dry-run", "--json")
    assert tables(restored) == [table]
    assert run(metastore, "lock", database, "--refuse") == f"statistics of database {lake}.shop are locked\n"
    with pytest.raises(StatementError, match=f"a partition or columns are of a table, found database {lake}"):
        run(metastore, "lock", database, "--columns", "age")
    with (
        client.connect(f"thrift://127.0.0.1:{metastore.port}") as service,
        pytest.raises(CallRefused, match=f"the lock of database {lake}.shop refuses it"),
    ):
        service.put_table_statistics(TableName(lake, "shop", "orders"), OTHER_NUMBERS)
    assert run(metastore, "unlock", database) == f"statistics of database {lake}.shop are unlocked\n"
    assert "every" in run(metastore, "prefs", "set", database, "every=1h")
    assert f"database {lake}.shop" in run(metastore, "prefs", "show", table)
    run(metastore, "prefs", "unset", database, "every")
    assert "database" not in run(metastore, "prefs", "show", database)


@ON_SQLITE
def test_they_are_named_in_full(metastore: Metastore, lake: str) -> None:
    table = f"{lake}.shop.orders"
    assert run(metastore, "lock", table) == f"statistics of table {table} are locked\n"
    assert f"table {table} " in run(metastore, "locked", table)
    assert run(metastore, "unlock", table) == f"statistics of table {table} are unlocked\n"
    assert f"table {table}" in run(metastore, "prefs", "set", table, "every=1h")
    assert run(metastore, "pending", "diff", table).startswith(f"pending statistics of {table}\n")
    assert {*tables(run(metastore, "history", table, "--json"))} == {table}
    assert run(metastore, "restore", table, "--as-of", "0s ago").startswith(f"{table} as of ")


@ON_SQLITE
def test_errors_name_them_in_full(metastore: Metastore, lake: str) -> None:
    table = f"{lake}.shop.orders"
    with pytest.raises(StatementError, match=f"table {table} has no column wrong, only age"):
        run(metastore, "analyze", table, "--columns", "wrong", "--dry-run")
    run(metastore, "lock", table, "--refuse")
    with pytest.raises(CallRefused, match=f"of table {table} are not written: the lock of table {table}"):
        run(metastore, "delete", table)
    with pytest.raises(CallRefused, match=f"hmstats locked {table} shows it"):
        run(metastore, "restore", table, "--as-of", "0s ago")


@ON_SQLITE
def test_an_analysis_of_a_database_finds_them(metastore: Metastore, lake: str) -> None:
    assert tables(run(metastore, "analyze", f"{lake}.shop.*", "--dry-run", "--json")) == [f"{lake}.shop.orders"]


@ON_SQLITE
def test_the_first_run_of_a_feed_has_them(metastore: Metastore, lake: str, tmp_path: Path) -> None:
    cursor = str(tmp_path / "cursor.json")
    sent = run(metastore, "feed", "openlineage", "http://127.0.0.1:1", "--dry-run", "--cursor", cursor)
    assert f"{lake}.shop.orders" in {json.loads(line)["dataset"]["name"] for line in sent.splitlines()}
    chosen = ("--dry-run", "--table", f"{lake}.shop.orders")
    proposal = json.loads(run(metastore, "feed", "datahub", "http://127.0.0.1:1", *chosen))["proposal"]
    assert proposal["entityUrn"] == f"urn:li:dataset:(urn:li:dataPlatform:hive,{lake}.shop.orders,PROD)"


@ON_SQLITE
def test_lists_of_everything_have_them(metastore: Metastore, lake: str) -> None:
    table = f"{lake}.shop.orders"
    run(metastore, "lock", table)
    assert f"table {table} " in run(metastore, "locked")
    run(metastore, "unlock", table)
    run(metastore, "prefs", "set", table, "publish=false")
    assert f"table {table} " in run(metastore, "prefs", "show", "--all")
    with client.connect(f"thrift://127.0.0.1:{metastore.port}", automatic=True) as service:
        service.put_table_statistics(TableName(lake, "shop", "orders"), OTHER_NUMBERS)
        started = Run(lake, TableName(lake, "shop", "orders"), "tests", 1, Outcome.RUNNING)
        assert service.runs.begin(started, 60).started
    assert table in tables(run(metastore, "pending", "list", "--json"))
    assert table in run(metastore, "runs")


@ON_SQLITE
def test_health_lists_the_worst_of_all_catalogs_first(metastore: Metastore, lake: str) -> None:
    metastore.table("fresh", COLUMNS, parameters={"numRows": "0"})
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.delete_statistics(TableName(lake, "shop", "orders"))
    found = [json.loads(line) for line in run(metastore, "health", "--json").splitlines()]
    assert [each["health"] for each in found] == sorted(each["health"] for each in found)
    assert lake in {each["catalog"] for each in found}


@ON_SQLITE
def test_a_comparison_has_them(metastore: Metastore, lake: str, tmp_path: Path) -> None:
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    run(metastore, "export", before, f"{lake}.shop.*")
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.put_table_statistics(TableName(lake, "shop", "orders"), OTHER_NUMBERS)
    run(metastore, "export", after, f"{lake}.shop.*")
    for other in (after, f"thrift://127.0.0.1:{metastore.port}/"):
        done = CliRunner().invoke(app, ["compare", before, other, "--json"])
        assert done.exit_code == ExitCode.NO
        assert {json.loads(line)["of"] for line in done.stdout.splitlines()} == {f"{lake}.shop.orders"}


@ON_SQLITE
def test_a_refresh_of_everything_has_them(metastore: Metastore, lake: str) -> None:
    orders = TableName(lake, "shop", "orders")
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.delete_statistics(orders)
        shown = refresh_plan(service, limit=500)
    assert str(orders) in [each.table for each in shown.work]
    planned = [json.loads(line) for line in run(metastore, "refresh", "--dry-run", "--json").splitlines()]
    assert orders in [TableName(each["catalog"], each["database"], each["table"]) for each in planned]
