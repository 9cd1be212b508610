"""`hmstats analyze` of a table of Delta Lake: by its log, on a machine whose Java cannot be started."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_analyze import command
from tests.collector.lake.delta_tables import registered, written
from tests.fixtures.metastores import Metastore

PARTLY_DONE = 3
"""The code where a column cannot have statistics: here one of arrays."""


@pytest.fixture
def sqlite(request: pytest.FixtureRequest) -> int:
    port: int = request.getfixturevalue("hmstats_sqlite")
    return port


@pytest.mark.slow
def test_no_spark_is_started(sqlite: int, tmp_path: Path) -> None:
    metastore = Metastore("hmstats-sqlite", sqlite, 4.0)
    with metastore.clients:
        metastore.client().create_database(_database(metastore, tmp_path))
        name = registered(metastore, written(tmp_path / "t"))
    nowhere = str(tmp_path / "nowhere")
    done = command("--metastore", f"thrift://127.0.0.1:{sqlite}", "--json", name, JAVA_HOME=nowhere)
    assert done.returncode == PARTLY_DONE, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert (report["rows"], report["files"], list(report["skipped"])) == (1980, 3, ["tags"])


def _database(metastore: Metastore, folder: Path) -> Any:
    from hmstats.wire.idl import hive_metastore as api

    return api.Database(name=metastore.database, description="", locationUri=f"file:{folder}", parameters={})
