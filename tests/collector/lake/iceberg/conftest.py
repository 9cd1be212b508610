"""A metastore of ours with PyIceberg's catalog on it."""

from pathlib import Path

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.fixtures.metastores import Metastore


@pytest.fixture
def catalog(our_metastore: Metastore, tmp_path: Path) -> HiveCatalog:
    waits = {"lock-check-min-wait-time": "0.05", "lock-check-max-wait-time": "0.2", "lock-check-retries": "100"}
    return HiveCatalog(
        "test", uri=f"thrift://127.0.0.1:{our_metastore.port}", warehouse=f"file://{tmp_path}/lake", **waits
    )
