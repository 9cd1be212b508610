"""Parameters of catalogs, which Hive has since 4.2, and where the catalog of all lies."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


def made(metastore: Metastore, folder: Path, parameters: dict[str, str] | None) -> str:
    """The name of a new catalog with these parameters."""
    name = f"c_{metastore.database}"
    catalog = api.Catalog(name=name, description="d", locationUri=f"file:{folder}/{name}", parameters=parameters)
    metastore.client().create_catalog(api.CreateCatalogRequest(catalog=catalog))
    return name


def found(metastore: Metastore, name: str) -> Any:
    return metastore.client().get_catalog(api.GetCatalogRequest(name=name)).catalog


def dropped(metastore: Metastore, name: str) -> None:
    metastore.client().drop_catalog(api.DropCatalogRequest(name=name, ifExists=False))


@pytest.mark.parametrize("parameters", [None, {}, {"type": "native", "ü": "1"}])
def test_parameters_of_a_new_catalog_are_told(
    our_metastore: Metastore, tmp_path: Path, parameters: dict[str, str] | None
) -> None:
    name = made(our_metastore, tmp_path, parameters)
    assert found(our_metastore, name).parameters == (parameters or {})
    dropped(our_metastore, name)
    with pytest.raises(api.NoSuchObjectException):
        found(our_metastore, name)


def test_an_altered_catalog_has_the_new_parameters(our_metastore: Metastore, tmp_path: Path) -> None:
    name = made(our_metastore, tmp_path, {"a": "1", "b": "2"})
    changed = found(our_metastore, name)
    changed.parameters = {"b": "3", "c": "4"}
    our_metastore.client().alter_catalog(api.AlterCatalogRequest(name=name, newCat=changed))
    assert found(our_metastore, name).parameters == {"b": "3", "c": "4"}
    dropped(our_metastore, name)


def test_a_client_that_knows_no_parameters_leaves_them(our_metastore: Metastore, tmp_path: Path) -> None:
    name = made(our_metastore, tmp_path, {"a": "1"})
    changed = found(our_metastore, name)
    changed.parameters, changed.description = None, "other"
    our_metastore.client().alter_catalog(api.AlterCatalogRequest(name=name, newCat=changed))
    assert (found(our_metastore, name).parameters, found(our_metastore, name).description) == ({"a": "1"}, "other")
    changed.parameters = {}
    our_metastore.client().alter_catalog(api.AlterCatalogRequest(name=name, newCat=changed))
    assert found(our_metastore, name).parameters == {}
    dropped(our_metastore, name)


def test_the_catalog_hive_lies_in_the_warehouse(metastore: Metastore) -> None:
    """Its row has no place in Hive's schema; a server tells its own."""
    if metastore.generation < 3:
        pytest.skip("catalogs came with Hive 3")
    default = metastore.client().get_database("default")
    assert found(metastore, "hive").locationUri == default.locationUri
