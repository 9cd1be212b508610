"""Calls about preferences of how statistics are made and kept (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.tables.preferences import StatisticsPreferences
from hmstats.wire.idl import extension
from hmstats.wire.statistics import preferences as codec


class PreferenceCalls:
    """Preferences."""

    def __init__(self, preferences: StatisticsPreferences) -> None:
        self._preferences = preferences

    def change_preferences(self, session: Session, request: Any) -> int:
        """Set and remove preferences of everything, a database, a table, a partition or a column."""
        of = codec.subject_from_thrift(request)
        if of.database is not None:
            subject.add_to_log(of.database)
        put, remove = dict(request.put or {}), list(request.remove or ())
        if any(not isinstance(each, str) for each in (*put, *put.values(), *remove)):
            raise InvalidInput(f"the preferences of {of} must be texts that are UTF-8, found others")
        return self._preferences.change(of, put, remove, subject.author(session))

    def get_preferences(self, session: Session, request: Any) -> Any:
        """The preferences of everything, and of databases and tables that match patterns."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        found = self._preferences.listed(catalog, request.dbPatterns, request.tblPatterns)
        return extension.PreferencesResult(preferences=[codec.preference_to_thrift(each) for each in found])
