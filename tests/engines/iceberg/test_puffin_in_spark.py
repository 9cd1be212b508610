"""Spark plans Iceberg's tables by our distinct counts: those of texts rightly, as by its own procedure's."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_analyze import command
from tests.collector.lake.iceberg.iceberg_tables import counts_of, entry_of
from tests.engines.iceberg.test_iceberg_in_spark import settings
from tests.engines.spark.sessions import older_spark
from tests.fixtures.servers import serving
from tests.peers.spark_jars.iceberg_spark import fetched

from hmstats import client

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

HERE = Path(__file__).parent
CBO = {"spark.sql.cbo.enabled": "true", "spark.sql.autoBroadcastJoinThreshold": "400000"}
LABEL, GONE = 2, 6


def test_plans_change_and_are_those_of_sparks_own_counts(tmp_path: Path) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")
    parts, warehouse = fetched(), tmp_path / "warehouse"

    def answers(name: str) -> list[Any]:
        given = settings(port, warehouse) | CBO
        return older_spark.session(port, warehouse, HERE / name, parts.packages, [parts.jar], given)

    def analyze(*more: str) -> None:
        done = command("--metastore", address, *more, "formats.t")
        assert done.returncode == 0, done.stderr

    with serving(tmp_path) as port:
        address = f"thrift://127.0.0.1:{port}"
        *_, filtered, joined = answers("puffin_written.sql")
        assert (_rows(filtered), _join(joined)) == ({1.0e5}, "SortMergeJoin")
        analyze()
        with client.connect(address) as service:
            ours = counts_of(entry_of(service, "formats.t"))
            assert ours == {LABEL: 50, GONE: 40}
            text, number, joined, computed, again, dropped, failed = answers("puffin_planned.sql")
            assert (_rows(text), _join(joined)) == ({2.0e3, 1.0e5}, "BroadcastHashJoin")
            assert _rows(number) == {1.0e5}
            assert (computed["error"], dropped["error"]) == (None, None)
            assert _rows(again) == _rows(text)
            # Spark fails while a count is registered of a column that is gone.
            assert failed["error"] is not None
            analyze("--changed-only")
            assert counts_of(entry_of(service, "formats.t")) == {LABEL: 50}
            (counted,) = answers("puffin_dropped.sql")
    assert (counted["error"], counted["rows"]) == (None, [[100_000]])


def _rows(explained: dict[str, Any]) -> set[float]:
    """The row counts that a plan has."""
    assert explained["error"] is None
    return {float(each) for each in re.findall(r"rowCount=([\d.E+]+)", str(explained["rows"]))}


def _join(explained: dict[str, Any]) -> str:
    """The kind of join that a plan has."""
    (found,) = set(re.findall(r"(SortMergeJoin|BroadcastHashJoin|ShuffledHashJoin)", str(explained["rows"])))
    return str(found)
