"""Opens a catalog of PyIceberg's configuration by its name: its tables, and how each is read and committed to.

The configuration is PyIceberg's own: `.pyiceberg.yaml`, or variables PYICEBERG_CATALOG__NAME__KEY of the environment,
with addresses, credentials, and settings of object stores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.collector.lake.iceberg.registration import Commits
from hmstats.collector.lake.iceberg.source import Source, source_at
from hmstats.errors import SettingsError, StatementError
from hmstats.extras import install_advice
from hmstats.model.catalog.objects import TableName

_THRIFT = "thrift://"


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of a catalog: `source` returns its newest metadata, `commits` registers statistics in them."""

    name: TableName
    source: Callable[[], Source]
    commits: Commits


@dataclass(frozen=True, slots=True)
class NamedCatalog:
    """An opened catalog of PyIceberg."""

    name: str
    opened: Any

    def close(self) -> None:
        """Close the catalog's connections: Python warns about a SQLite file that is left open."""
        self.opened.close()

    @property
    def metastore(self) -> str | None:
        """The catalog's address if it is a Hive Metastore, else None."""
        uri = str(self.opened.properties.get("uri", ""))
        return uri if uri.startswith(_THRIFT) else None

    def tables(self, namespace: str) -> list[str]:
        """The names of the tables of a namespace. Raises StatementError, ServiceError."""
        from hmstats.collector.lake.catalogs.errors import translate_errors  # noqa: PLC0415 - an extra

        with translate_errors(self.name, f"namespace {namespace}"):
            return sorted(".".join(each) for each in self.opened.list_tables(namespace))

    def table(self, text: str) -> CatalogTable:
        """The table named `DB.TABLE`, or with more namespaces before it. The catalog is not asked.

        Raises StatementError for a text that is not a name.
        """
        from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - an extra

        from hmstats.collector.lake.catalogs.rest_commits import RestCommits  # noqa: PLC0415
        from hmstats.collector.lake.catalogs.sql_pointer import SqlPointer  # noqa: PLC0415
        from hmstats.collector.lake.iceberg.file_commits import FileCommits  # noqa: PLC0415

        identifier = tuple(text.split("."))
        if len(identifier) < 2 or not all(identifier):
            raise StatementError(f"a table of catalog {self.name} must be named as DB.TABLE, found {text!r}")
        *namespace, table = identifier
        name = TableName(self.name, ".".join(namespace), table)
        if not isinstance(self.opened, SqlCatalog):
            return CatalogTable(name, lambda: self._load_source(identifier), RestCommits(self.opened, identifier))
        pointer = SqlPointer(self.opened, identifier)
        return CatalogTable(
            name, lambda: self._source_at(name, pointer.location()), FileCommits(pointer, self._io({}, ""))
        )

    def _load_source(self, identifier: tuple[str, ...]) -> Source:
        from hmstats.collector.lake.catalogs.errors import translate_errors  # noqa: PLC0415 - an extra
        from hmstats.collector.lake.catalogs.rest_commits import metadata_json  # noqa: PLC0415

        with translate_errors(self.name, f"table {'.'.join(identifier)}"):
            table = self.opened.load_table(identifier)
            return Source(metadata_json(table), table)

    def _source_at(self, name: TableName, location: str | None) -> Source:
        if location is None:
            raise StatementError(f"catalog {self.name} has no table {name.short}")
        return source_at(name.short, location, lambda properties: self._io(properties, location))

    def _io(self, properties: Mapping[str, str], location: str) -> Any:
        from pyiceberg.io import load_file_io  # noqa: PLC0415 - an extra

        return load_file_io({**self.opened.properties, **properties}, location or None)


def open_catalog(name: str) -> NamedCatalog:
    """The catalog of PyIceberg's configuration with this name.

    Raises SettingsError if PyIceberg or a part of it is not installed; StatementError if the configuration has no such
    catalog; ServiceError if it cannot be reached.
    """
    try:
        from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - an extra

        from hmstats.collector.lake.catalogs.errors import translate_errors  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            f"catalog {name} is one of PyIceberg, which is not installed: {install_advice('iceberg')}"
        ) from error
    with translate_errors(name, "its configuration"):
        return NamedCatalog(name, load_catalog(name))
