"""A session whose warehouse lies where the metastore changes no directories is warned of, once."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats import client
from hmstats.collector.spark.session import OWN
from hmstats.collector.spark.warehouses import difference, warn_once

SETTING = "spark.sql.warehouse.dir"


def session(warehouse: Path | str, **more: str) -> Any:
    """What a session says of its settings."""
    return SimpleNamespace(conf={SETTING: str(warehouse), **more})


@pytest.mark.slow
def test_a_warehouse_of_which_the_metastore_knows_nothing_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "hmstats.collector")
    roots = {"warehouse_roots": f"{tmp_path}/warehouse,{tmp_path}/covered"}
    with serving(tmp_path, settings=roots) as port, client.connect(f"thrift://127.0.0.1:{port}") as metastore:
        for place in ("warehouse", "covered", "covered/inside"):
            warn_once(session(tmp_path / place), metastore)
        warn_once(session(tmp_path / "other", **{OWN: "true"}), metastore)
        assert caplog.records == []
        for _ in range(2):
            warn_once(session(f"file://{tmp_path}/other"), metastore)
    (record,) = caplog.records
    ours, theirs = f"file://{tmp_path}/other", f"file:{tmp_path}/warehouse"
    assert record.getMessage() == (
        f"Spark's warehouse {ours} is not the metastore's, {theirs}, which may refuse databases and managed tables "
        f"there: start Spark with {SETTING}={theirs}, or serve with HMSTATS__WAREHOUSE_ROOTS={ours}"
    )


def test_a_server_on_loopback_serves_every_warehouse(our_metastore: Metastore, tmp_path: Path) -> None:
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as metastore:
        own = metastore.config_value("metastore.warehouse.dir")
        assert difference(session(own + "/"), metastore) is None
        found = difference(session(tmp_path), metastore)
    assert found is not None
    assert (found.covered, found.sentence) == (True, f"{tmp_path} is not the metastore's, {own}")
