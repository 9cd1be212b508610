"""Structs of preferences <-> model."""

from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.names import database_name
from hmstats.model.preferences.preference import Preference, Subject
from hmstats.wire.idl import extension


def subject_to_thrift(subject: Subject) -> dict[str, str | None]:
    """The fields of a struct that name an object."""
    return {
        "catName": subject.database.catalog if subject.database else None,
        "dbName": subject.database.database if subject.database else None,
        "tblName": subject.table,
        "partName": subject.partition,
        "colName": subject.column,
    }


def subject_from_thrift(struct: Any) -> Subject:
    """The object that a struct names. Raises InvalidInput if a name is no text."""
    names = (struct.catName, struct.dbName, struct.tblName, struct.partName, struct.colName)
    if any(each is not None and not isinstance(each, str) for each in names):
        raise InvalidInput("the names of a preference must be texts that are UTF-8, found others")
    database = database_name(struct.dbName, struct.catName) if struct.dbName else None
    table = struct.tblName.lower() if struct.tblName else None
    return Subject(database, table, struct.partName or None, struct.colName.lower() if struct.colName else None)


def preference_to_thrift(preference: Preference) -> Any:
    """The struct of a listed preference."""
    return extension.Preference(
        **subject_to_thrift(preference.subject),
        name=preference.name,
        value=preference.text,
        setBy=preference.set_by,
        setAt=None if preference.of_hive else preference.set_at_seconds,
        ofHive=preference.of_hive or None,
    )


def preference_from_thrift(struct: Any) -> Preference:
    """The listed preference in a struct."""
    subject = subject_from_thrift(struct)
    return Preference(subject, struct.name, struct.value, struct.setBy, struct.setAt or 0, bool(struct.ofHive))
