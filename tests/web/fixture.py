"""The page over our server with tables, made once for a file of tests that imports these fixtures."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.web.tables import shown_tables

from hmstats.wire.idl import hive_metastore as api

__all__ = ["Shown", "metastore_port", "shown"]
DATABASE = "shop"


@dataclass
class Shown:
    """The page, and the database of its tables."""

    page: TestClient
    database: str

    def json(self, path: str, **query: str | int) -> Any:
        """The answer of the API, which must be good."""
        found = self.page.get(f"/api/v1{path}", params=query)
        assert found.status_code == 200, found.text
        return found.json()

    def html(self, path: str, **query: str | int) -> str:
        """A page, which must be good."""
        found = self.page.get(path, params=query)
        assert found.status_code == 200, found.text
        return found.text


@pytest.fixture(scope="module")
def metastore_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder: Path = tmp_path_factory.mktemp("page")
    with serving(folder, "--workers", "1") as port:
        yield port


@pytest.fixture(scope="module")
def shown(metastore_port: int) -> Iterator[Shown]:
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=DATABASE)
    with metastore.clients:
        metastore.client().create_database(api.Database(name=DATABASE, description="", parameters={}))
        with shown_tables(metastore, writes=True) as page:
            yield Shown(page, DATABASE)
