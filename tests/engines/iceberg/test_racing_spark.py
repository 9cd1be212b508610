"""Spark with Iceberg appends while hmstats analyzes and registers: no commit of either undoes one of the other."""

import shutil
import threading
from pathlib import Path

import pytest
from tests.collector.lake.iceberg.iceberg_tables import counts_of, entry_of, metadata_of, puffin_of
from tests.collector.lake.test_object_store import analyzed
from tests.engines.iceberg.test_iceberg_in_spark import settings
from tests.engines.spark.sessions import older_spark
from tests.fixtures.servers import serving
from tests.peers.spark_jars.iceberg_spark import fetched

from hmstats import client
from hmstats.collector.lake.opened import no_settings
from hmstats.errors import AnalysisIncomplete
from hmstats.model.catalog.names import table_name

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

APPENDS, ROWS = 25, 200
TABLE = "race.t"
STATEMENTS = (
    "CREATE DATABASE ice.race",
    f"CREATE TABLE ice.{TABLE} (id bigint, label string) USING iceberg",
    *(
        f"INSERT INTO ice.{TABLE} SELECT id, concat('v', id) FROM range({first}, {first + ROWS}, 1, 1)"
        for first in range(0, APPENDS * ROWS, ROWS)
    ),
    f"SELECT count(*) FROM ice.{TABLE}",
)


def test_appends_of_spark_and_registrations_follow_each_other(tmp_path: Path) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")
    parts, warehouse, script = fetched(), tmp_path / "warehouse", tmp_path / "appends.sql"
    script.write_text("\n".join(STATEMENTS) + "\n")
    answers: list[dict[str, object]] = []

    with serving(tmp_path) as port, client.connect(f"thrift://127.0.0.1:{port}") as service:

        def append() -> None:
            given = settings(port, warehouse)
            answers.extend(older_spark.session(port, warehouse, script, parts.packages, [parts.jar], given))

        spark = threading.Thread(target=append)
        spark.start()
        registered = 0
        while spark.is_alive():
            registered += _analyze_once(service, changed_only=registered % 2 == 1)
            spark.join(timeout=0.1)
        last = analyzed(service, TABLE, no_settings, changed_only=True)
        metadata = metadata_of(service, TABLE)
        entry = entry_of(service, TABLE)
    print(f"{registered} registrations beside {APPENDS} appends")
    assert [each["error"] for each in answers] == [None] * len(STATEMENTS)
    assert answers[-1]["rows"] == [[APPENDS * ROWS]]
    assert len(metadata["snapshots"]) == APPENDS
    assert registered > 3
    assert last.rows in (APPENDS * ROWS, 0)  # 0: it was analysed already
    assert sum(counts_of(entry).values()) == pytest.approx(APPENDS * ROWS, rel=0.06)
    assert {len(puffin_of(each).blobs) for each in metadata["statistics"]} == {1}


def _analyze_once(service: client.Metastore, *, changed_only: bool) -> bool:
    """Analyse what is there; whether anything was registered. A later commit may refuse it."""
    if service.find_table(table_name("race", "t")) is None:
        return False
    try:
        report = analyzed(service, TABLE, no_settings, changed_only=changed_only)
    except AnalysisIncomplete as error:
        assert "commit" in str(error) or "snapshot" in str(error), error  # noqa: PT017 - all else is a fault
        return False
    return report.puffin is not None and report.puffin.path is not None
