"""Calls about catalogs."""

from typing import Any

from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.databases.catalogs import Catalogs
from hmstats.wire.catalog.objects import catalog_from_thrift, catalog_to_thrift
from hmstats.wire.idl import hive_metastore


class CatalogCalls:
    """create, get, alter and drop of catalogs."""

    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs

    def create_catalog(self, session: Session, catalog: Any) -> None:
        """Make a catalog with its database `default`."""
        self._catalogs.create(catalog_from_thrift(catalog.catalog))

    def get_catalog(self, session: Session, catName: Any) -> Any:
        """The catalog."""
        found = self._catalogs.get((catName.name or "").lower())
        return hive_metastore.GetCatalogResponse(catalog=catalog_to_thrift(found))

    def get_catalogs(self, session: Session) -> Any:
        """The names of all catalogs."""
        return hive_metastore.GetCatalogsResponse(names=self._catalogs.names())

    def alter_catalog(self, session: Session, rqst: Any) -> None:
        """Replace a catalog's description and location, and its parameters if they are given."""
        self._catalogs.alter((rqst.name or "").lower(), catalog_from_thrift(rqst.newCat))

    def drop_catalog(self, session: Session, catName: Any) -> None:
        """Drop a catalog that is empty."""
        self._catalogs.drop((catName.name or "").lower(), if_exists=bool(catName.ifExists))
