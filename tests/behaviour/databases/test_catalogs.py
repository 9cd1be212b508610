"""Catalogs: how they may be called, how they are named in arguments, and when they can be dropped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def catalog(metastore: Metastore, tmp_path: Path) -> Iterator[str]:
    """A new catalog."""
    if metastore.generation < 3:
        pytest.skip("catalogs came with Hive 3")
    name = f"c_{metastore.database}"
    create(metastore, name, tmp_path)
    yield name
    drop(metastore, name)


def create(metastore: Metastore, name: str, folder: Path) -> None:
    catalog = api.Catalog(name=name, locationUri=f"file:{folder}/catalog")
    metastore.client().create_catalog(api.CreateCatalogRequest(catalog=catalog))


def drop(metastore: Metastore, name: str) -> None:
    metastore.client().drop_catalog(api.DropCatalogRequest(name=name, ifExists=False))


def test_a_catalog_is_named_in_any_case(metastore: Metastore, catalog: str) -> None:
    client = metastore.client()
    assert client.get_databases(f"@{catalog.upper()}#*") == ["default"]
    assert client.get_all_tables(f"@{catalog.upper()}#default") == []


@pytest.mark.parametrize("name", ["a#b", "@a", "a!b", "a-b", "a/b", "..", "a b"])
def test_a_name_that_could_not_be_asked_for_is_refused(metastore: Metastore, tmp_path: Path, name: str) -> None:
    if metastore.generation < 3:
        pytest.skip("catalogs came with Hive 3")
    with pytest.raises(api.InvalidObjectException, match="is not a valid catalog name"):
        create(metastore, name, tmp_path)


def test_a_catalog_with_a_function_is_not_dropped(metastore: Metastore, catalog: str) -> None:
    client = metastore.client()
    own = api.Function(
        functionName="f",
        dbName="default",
        catName=catalog,
        className="a.B",
        ownerName="ada",
        ownerType=1,
        functionType=1,
        resourceUris=[],
    )
    client.create_function(own)
    with pytest.raises(api.InvalidOperationException):
        drop(metastore, catalog)
    assert client.get_functions(f"@{catalog}#default", "*") == ["f"]
    client.drop_function(f"@{catalog}#default", "f")
