"""A database as the calls of a place return it: only calls that every client has are used."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hmstats.errors import CallRefused, UnknownCall
from hmstats.gateway.upstream.calling import request_of, value_of
from hmstats.model.catalog.constraints import ColumnConstraint
from hmstats.model.catalog.functions import Function
from hmstats.model.catalog.names import database_text, partition_name
from hmstats.model.catalog.objects import Catalog, Database, DatabaseName, Partition, Table, TableName
from hmstats.model.preferences.preference import Preference, Subject
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.wire.catalog.constraints import LISTS, constraints_from_thrift
from hmstats.wire.catalog.functions import function_from_thrift
from hmstats.wire.catalog.objects import (
    catalog_from_thrift,
    database_from_thrift,
    partitions_from_thrift,
    table_from_thrift,
)
from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.extension import sets_with_details_from_thrift, sets_with_details_to_thrift
from hmstats.wire.statistics.preferences import preference_from_thrift, subject_to_thrift

ENGINES = (DEFAULT_ENGINE, "impala")
"""The engines whose statistics are moved."""
PARTITIONS_A_CALL = 500
_EVERY = -1
_ABLE = api.ClientCapabilities(values=[api.ClientCapability.INSERT_ONLY_TABLES])
_CONSTRAINTS = {
    "primaryKeys": ("get_primary_keys", api.PrimaryKeysRequest),
    "uniqueConstraints": ("get_unique_constraints", api.UniqueConstraintsRequest),
    "notNullConstraints": ("get_not_null_constraints", api.NotNullConstraintsRequest),
    "defaultConstraints": ("get_default_constraints", api.DefaultConstraintsRequest),
    "checkConstraints": ("get_check_constraints", api.CheckConstraintsRequest),
}


class Described:
    """Reads and writes databases of a place, whose `title` is for sentences.

    Every method raises CallRefused, UpstreamUnavailable, UpstreamClosed.
    """

    def __init__(
        self,
        title: str,
        answer: Callable[[Request], Relayed],
        send: Callable[[DatabaseName], None] = lambda _: None,
    ) -> None:
        self.title = title
        self._answer = answer
        self.send = send
        """Sends the statistics of a database that are still waiting to be sent."""

    def call(self, method: str, *arguments: Any) -> Any:
        """The answer to a call."""
        return value_of(method, self._answer(request_of(method, *arguments)))

    def catalog(self, name: str) -> Catalog:
        """A catalog; before Hive 3 there is only one, which has no location."""
        try:
            return catalog_from_thrift(self.call("get_catalog", api.GetCatalogRequest(name=name)).catalog)
        except UnknownCall:
            return Catalog(name, "")

    def database(self, name: DatabaseName) -> Database | None:
        """A database; None if it does not exist."""
        try:
            return database_from_thrift(self.call("get_database", database_text(name)))
        except CallRefused as error:
            if error.is_missing:
                return None
            raise

    def tables(self, name: DatabaseName) -> list[str]:
        """The names of a database's tables."""
        return sorted(each.lower() for each in self.call("get_all_tables", database_text(name)))

    def table(self, name: TableName) -> Table:
        """A table."""
        request = api.GetTableRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, capabilities=_ABLE
        )
        return table_from_thrift(self.call("get_table_req", request).table)

    def partitions(self, table: Table) -> Iterator[dict[str, Partition]]:
        """The partitions of a table by name, in batches."""
        keys = [each.name for each in table.partition_keys]
        if not keys:
            return
        place = database_text(table.name.parent), table.name.table
        names = sorted(self.call("get_partition_names", *place, _EVERY))
        for start in range(0, len(names), PARTITIONS_A_CALL):
            structs = self.call("get_partitions_by_names", *place, names[start : start + PARTITIONS_A_CALL])
            yield {partition_name(keys, each.values): each for each in partitions_from_thrift(structs)}

    def functions(self, name: DatabaseName) -> list[Function]:
        """The functions of a database."""
        place = database_text(name)
        names = sorted(self.call("get_functions", place, "*"))
        return [function_from_thrift(self.call("get_function", place, each)) for each in names]

    def constraints(self, name: TableName) -> list[ColumnConstraint]:
        """The constraints of a table; an older metastore does not know the newer kinds."""
        found = list[ColumnConstraint]()
        for field, (method, request) in _CONSTRAINTS.items():
            asked = request(catName=name.catalog, db_name=name.database, tbl_name=name.table)
            found += constraints_from_thrift(LISTS[field], self._ask_if_known(method, asked, field), name.catalog)
        keys = api.ForeignKeysRequest(foreign_db_name=name.database, foreign_tbl_name=name.table, catName=name.catalog)
        return found + constraints_from_thrift(
            LISTS["foreignKeys"], self._ask_if_known("get_foreign_keys", keys, "foreignKeys"), name.catalog
        )

    def preferences(self, name: DatabaseName) -> list[Preference]:
        """The preferences stated for a database and the objects in it, except those in Hive's parameters."""
        asked = extension.PreferencesRequest(catName=name.catalog, dbPatterns=name.database)
        found = map(preference_from_thrift, self.call("get_preferences", asked).preferences)
        return [each for each in found if each.subject.database == name and not each.of_hive]

    def replace_preferences(self, name: DatabaseName, wanted: Sequence[Preference]) -> None:
        """Replace all preferences stated for a database and the objects in it."""
        for each in self.preferences(name):
            self._change_preferences(each.subject, remove=[each.name])
        for each in wanted:
            self._change_preferences(each.subject, put={each.name: each.text})

    def statistics(self, name: TableName, partitions: Sequence[str] | None, engine: str) -> list[StatisticsSet]:
        """An engine's statistics of a table itself (None) or of some partitions, with everything that hmstats keeps."""
        if partitions is not None and not partitions:
            return []
        asked = extension.StatisticsRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, partNames=partitions, engine=engine
        )
        told = self.call("get_statistics", asked)
        found = [each for _, each in sets_with_details_from_thrift(told.colStats, told.details, engine)]
        return [each for each in found if each.engine == engine and each.columns]

    def put_statistics(self, name: TableName, statistics: Sequence[StatisticsSet]) -> None:
        """Write statistics of one engine."""
        structs, details = sets_with_details_to_thrift(name, statistics, stamp=True)
        engine = statistics[0].engine
        request = extension.SetStatisticsRequest(colStats=structs, details=details, engine=engine, force=True)
        self.call("set_statistics", request)

    def _change_preferences(self, subject: Subject, **changes: Any) -> None:
        self.call("change_preferences", extension.PreferenceChanges(**subject_to_thrift(subject), **changes))

    def _ask_if_known(self, method: str, request: Any, field: str) -> Sequence[Any]:
        try:
            return getattr(self.call(method, request), field) or ()
        except UnknownCall:
            return ()
