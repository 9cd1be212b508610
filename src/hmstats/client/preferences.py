"""Calls about preferences of how statistics are made and kept. Only hmstats has them."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from hmstats.client.naming import AnyTable, as_table_name
from hmstats.errors import UnknownCall
from hmstats.model.preferences.in_force import Stated
from hmstats.model.preferences.preference import Preference, Subject
from hmstats.wire.idl import extension
from hmstats.wire.statistics import preferences as codec


class PreferenceCalls:
    """Preferences of everything, databases, tables, partitions and columns.

    Every method raises ServiceUnavailable if the metastore cannot be reached, and CallRefused if it answers with an
    exception. `change` and `listed` raise UnknownCall if it is not hmstats; `of_table` and `stated` then find nothing.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def change(self, subject: Subject, put: Mapping[str, str], remove: Collection[str] = ()) -> int:
        """Set some preferences of an object and remove others, all or nothing. Returns how many were removed."""
        named = codec.subject_to_thrift(subject)
        request = extension.PreferenceChanges(**named, put=dict(put) or None, remove=list(remove) or None)
        return int(self._ask("change_preferences", request))

    def listed(
        self, databases: str | None = None, tables: str | None = None, catalog: str | None = None
    ) -> list[Preference]:
        """The preferences of everything, and of databases and tables that match patterns (None: all)."""
        request = extension.PreferencesRequest(catName=catalog, dbPatterns=databases, tblPatterns=tables)
        return [codec.preference_from_thrift(each) for each in self._ask("get_preferences", request).preferences]

    def of_table(self, table: AnyTable) -> Stated:
        """All preferences that count for a table, its partitions and columns."""
        name = as_table_name(table)
        return self.stated(name.database, name.table, name.catalog)

    def stated(self, databases: str | None = None, tables: str | None = None, catalog: str | None = None) -> Stated:
        """All preferences of objects that match patterns (None: all), to be asked what counts for each."""
        try:
            return Stated(self.listed(databases, tables, catalog))
        except UnknownCall:
            return Stated()
