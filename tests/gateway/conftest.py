"""Doors at an hmstats and at real Hives, and at a gateway to each."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import SECONDS, Doors
from tests.peers import event_listener

from hmstats.wire.idl import hive_metastore as api

LOGGING = "hive-4.0 that logs"
"""A Hive whose log proves to the gateway what it need not compare."""


@pytest.fixture(scope="session")
def hive_4_0_that_logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Hive Metastore 4.0.1 that logs each change in its transaction, and lets everybody read the log."""
    readable = "hive.metastore.event.db.notification.api.auth=false"
    folder, jars = tmp_path_factory.mktemp("hive-that-logs"), event_listener.class_path("4.0")
    with hive("4.0", folder, event_listener.TRANSACTIONAL, readable, jars=jars) as port:
        yield port


@pytest.fixture(
    scope="module",
    params=["hmstats-sqlite", *(pytest.param(each, marks=pytest.mark.hive) for each in (*HIVES, LOGGING))],
)
def ports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, int]]:
    """A metastore's flavour, its port, and that of a gateway to it."""
    port = request.getfixturevalue(re.sub(r"\W", "_", request.param))
    folder = tmp_path_factory.mktemp("gateway")
    settings = {"upstream_write_seconds": SECONDS}
    with serving(folder, "--upstream", f"thrift://127.0.0.1:{port}", settings=settings) as gateway:
        yield request.param, port, gateway


@pytest.fixture
def doors(ports: tuple[str, int, int]) -> Iterator[Doors]:
    flavour, port, gateway = ports
    generation = float(flavour.removeprefix("hive-")) if flavour in HIVES else 4.0
    direct = Metastore(flavour, port, generation)
    with direct.clients:
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        yield Doors(direct, replace(direct, port=gateway))
