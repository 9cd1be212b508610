"""Preferences of how statistics are made and kept: set, removed and listed."""

from collections.abc import Collection, Mapping

from hmstats.errors import InvalidInput
from hmstats.model.pending.holding import HOLDING
from hmstats.model.preferences import values
from hmstats.model.preferences.preference import Preference, Subject
from hmstats.model.preferences.values import check_value
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.service.catalog.patterns import literals, matching
from hmstats.service.catalog.tables.statistics_locks import lock_place
from hmstats.store.catalog import databases, tables
from hmstats.store.database.store import Store
from hmstats.store.statistics import preferences
from hmstats.store.statistics.statistics_locks import ObjectIds
from hmstats.store.unit.unit import Unit


class StatisticsPreferences:
    """The preferences of all databases."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def change(self, subject: Subject, put: Mapping[str, str], remove: Collection[str], author: str | None) -> int:
        """Set some preferences of an object and remove others, all or nothing. Returns how many were removed.

        Raises NoSuchObject for a missing database, table or partition, InvalidInput for a missing column, an unknown
        preference, or a text that is none.
        """
        _check_subject(subject)
        texts = {name: check_value(name, text, subject.level) for name, text in put.items()}
        for each in remove:
            values.check_name(each)
            if each in put:
                raise InvalidInput(f"the preference {each} of {subject} must be set or removed, not both")
        return self._store.write(lambda unit: _change(unit, subject, texts, remove, author))

    def listed(self, catalog: str, of_databases: str | None, tables: str | None) -> list[Preference]:
        """The preferences of everything, of the databases that match a pattern, and of what is in their tables.

        `tables`: only of the tables that match it. Hive's skip.stats.autoupdate of databases and tables is among them.
        """
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), of_databases)
            listed = preferences.listed(connection, catalog, names, literals(tables))
        matched = set(matching([each.subject.table for each in listed if each.subject.table], tables))
        return [each for each in listed if each.subject.table is None or each.subject.table in matched]


def _change(unit: Unit, subject: Subject, texts: Mapping[str, str], remove: Collection[str], author: str | None) -> int:
    place = _lock_place(unit, subject, {*texts, *remove})
    preferences.put(unit, place, subject.column, texts, author)
    return preferences.remove(unit, place, subject.column, sorted(remove)) if remove else 0


def _lock_place(unit: Unit, subject: Subject, names: set[str]) -> ObjectIds:
    """The ids of an object; all of its tables get another version, by which writers know that they must look again."""
    if subject.database is None:
        if not names.isdisjoint(HOLDING):
            tables.bump_every(unit)
        return preferences.OF_EVERYTHING
    columns = () if subject.column is None else (subject.column,)
    return lock_place(unit, LockedObject(subject.database, subject.table, subject.partition, columns))


def _check_subject(subject: Subject) -> None:
    if subject.partition is not None and subject.column is not None:
        raise InvalidInput(
            f"a preference is stated of a partition or of a column, not of column {subject.column} in partition "
            f"{subject.partition}"
        )
    if subject.database is None and (subject.table or subject.partition or subject.column):
        raise InvalidInput("a preference of a table, a partition or a column must name the database, found none")
