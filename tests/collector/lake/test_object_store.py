"""Lakehouse tables in an object store, by the same settings as other tables: from the environment, or Hadoop's."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from deltalake import write_deltalake
from pyarrow import fs
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import delete_by_vector, registered
from tests.collector.lake.iceberg.iceberg_tables import ROWS
from tests.collector.lake.test_delta import stored, table_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store
from tests.fixtures.servers import serving
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.delivery.deliver import Delivery, new_run
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.opened import Hadoop, no_settings
from hmstats.collector.options import DEFAULT
from hmstats.collector.report import Report
from hmstats.collector.request.statement import statement
from hmstats.files.file_systems import open_location, settings_of

pytestmark = pytest.mark.slow

SCHEMES = {"s3": "environment", "s3a": "hadoop", "s3n": "hadoop of the bucket"}
_numbers = count(1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture(scope="module")
def metastore(store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A metastore whose settings are in its environment."""
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, warehouse=f"s3://{BUCKET}/warehouse", environment=store.environment) as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients, client.connect(f"thrift://127.0.0.1:{port}") as service:
            HiveCatalog("test", uri=service.address, **of_pyiceberg(store)).create_namespace(found.database)
            yield found


@pytest.fixture(params=list(SCHEMES))
def scheme(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def hadoop(scheme: str, store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Hadoop:
    """The settings of the store, from one place alone."""
    for name, value in store.environment.items():
        if SCHEMES[scheme] == "environment":
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name, raising=False)
    if SCHEMES[scheme] == "environment":
        return no_settings
    prefix = "fs.s3a." if SCHEMES[scheme] == "hadoop" else f"fs.s3a.bucket.{BUCKET}."
    given = {name.replace("fs.s3a.", prefix, 1): value for name, value in store.hadoop.items()}
    return given.get


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        yield service


def analyzed(service: client.Metastore, name: str, hadoop: Hadoop, *, changed_only: bool = False) -> Report:
    table = table_of(service, name)
    delivery = Delivery(table.name, (), service.address, new_run(), None, 5.0)
    return analyze_lake(
        service,
        table,
        statement(name),
        DEFAULT,
        delivery,
        changed_only=changed_only,
        row_counts=True,
        hadoop=hadoop,
    )


def test_iceberg(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, hadoop: Hadoop, scheme: str
) -> None:
    catalog = HiveCatalog("test", uri=service.address, **of_pyiceberg(store))
    name = f"{metastore.database}.ice_{scheme}"
    table = catalog.create_table(name, schema=ROWS.schema, location=f"{scheme}://{BUCKET}/ice/{scheme}")
    table.append(ROWS)
    report = analyzed(service, name, hadoop)
    assert (report.rows, report.puffin and report.puffin.columns) == (1000, ("name",))
    table.refresh()
    (entry,) = table.metadata.statistics
    assert entry.statistics_path.startswith(f"{scheme}://{BUCKET}/ice/{scheme}/metadata/")
    table.append(ROWS)
    again = analyzed(service, name, hadoop, changed_only=True)
    assert (again.rows, again.files) == (2000, 1)


def test_delta(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, hadoop: Hadoop, scheme: str
) -> None:
    place = f"{BUCKET}/delta/{scheme}"
    write_deltalake(f"s3://{place}", ROWS, storage_options={**store.environment, "AWS_ALLOW_HTTP": "true"})
    name = registered(metastore, f"{scheme}://{place}", f"delta_{scheme}")
    assert analyzed(service, name, hadoop).rows == 1000
    assert stored(service, name, ["id"])["id"].data.high == 999  # type: ignore[union-attr]


@pytest.mark.parametrize("odd", ["q?#", "50%", "a b", "\u00fc+[=&'"])
def test_delta_below_a_folder_with_an_odd_name(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, tmp_path: Path, odd: str
) -> None:
    rows = 100 + len(odd)
    write_deltalake(tmp_path, ROWS.slice(0, rows))
    delete_by_vector(tmp_path, [1, 3])
    place = f"s3a://{BUCKET}/odd/{odd}"
    system, path = open_location(place, settings_of([("s3a", BUCKET)], store.hadoop.get))
    fs.copy_files(str(tmp_path), path, destination_filesystem=system)
    name = registered(metastore, place, f"odd_{next(_numbers)}")
    assert analyzed(service, name, store.hadoop.get).rows == rows - 2


def test_a_refresh_takes_the_settings_of_hadoop_from_its_flags(
    metastore: Metastore, service: client.Metastore, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"{BUCKET}/delta/refreshed"
    write_deltalake(f"s3://{place}", ROWS, storage_options={**store.environment, "AWS_ALLOW_HTTP": "true"})
    name = registered(metastore, f"s3a://{place}", "delta_refreshed")
    for variable in store.environment:
        monkeypatch.delenv(variable, raising=False)
    conf = [f"--conf=spark.hadoop.{key}={value}" for key, value in store.hadoop.items()]
    done = CliRunner().invoke(app, ["refresh", name, "--json", "--metastore", service.address, *conf])
    assert done.exit_code == 0, done.output
    assert stored(service, name, ["id"])["id"].data.high == 999  # type: ignore[union-attr]


def of_pyiceberg(store: ObjectStore) -> dict[str, str]:
    """The store's settings by PyIceberg's names."""
    names = {
        "s3.endpoint": "AWS_ENDPOINT_URL",
        "s3.access-key-id": "AWS_ACCESS_KEY_ID",
        "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY",
        "s3.region": "AWS_REGION",
    }
    return {own: store.environment[name] for own, name in names.items()}
