"""The work of `hmstats prefs`: set, remove and print preferences."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.cell_texts import age
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client import Metastore
from hmstats.client.naming import named_scope
from hmstats.client.tables.existing import check_exists, list_named
from hmstats.errors import StatementError
from hmstats.model.catalog.names import possible_names
from hmstats.model.catalog.objects import Parameters
from hmstats.model.preferences.in_force import Effective
from hmstats.model.preferences.preference import EVERYTHING, Preference, Subject
from hmstats.model.preferences.values import KINDS

_EVERYTHING = "*"


def set_preferences(
    text: str,
    values: Sequence[str],
    *,
    partitions: Sequence[str],
    column: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Set preferences, and print the values in force then. Raises StatementError for a malformed name or text."""
    named = _subjects(text, partitions, column)
    pairs = [each.partition("=") for each in values]
    for each, (name, separator, _) in zip(values, pairs, strict=True):
        if not name or not separator:
            raise StatementError(f"a preference must be NAME=VALUE, found {each!r}")
    put = {name.strip().replace("-", "_"): value for name, _, value in pairs}
    with open_metastore(metastore) as service:
        subjects = _as_stored(service, named)
        for subject in subjects:
            service.preferences.change(subject, put)
        _print_in_force({each: _in_force(service, each, put) for each in subjects}, as_json=as_json)


def unset_preferences(
    text: str,
    names: Sequence[str],
    *,
    partitions: Sequence[str],
    column: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Remove preferences, and print the values in force then. Raises StatementError if none was set."""
    named = _subjects(text, partitions, column)
    wanted = [each.replace("-", "_") for each in names]
    with open_metastore(metastore) as service:
        subjects = _as_stored(service, named)
        for subject in subjects:
            if not service.preferences.change(subject, {}, wanted):
                raise StatementError(f"{', '.join(wanted)} of {subject} was not set: hmstats prefs show says what is")
        _print_in_force({each: _in_force(service, each, wanted) for each in subjects}, as_json=as_json)


def show_preferences(
    text: str, *, partitions: Sequence[str], column: str | None, metastore: str | None, as_json: bool
) -> None:
    """Print the values in force for an object. Raises StatementError for a malformed name or a missing object."""
    named = _subjects(text, partitions, column)
    with open_metastore(metastore) as service:
        check_exists(service, text)
        subjects = _as_stored(service, named)
        in_force = {each: _in_force(service, each, KINDS, _hive(service, each)) for each in subjects}
        _print_in_force(in_force, as_json=as_json)


def list_preferences(text: str, *, metastore: str | None, as_json: bool) -> None:
    """Print all that is stated of the databases and tables that match.

    Raises StatementError for a malformed name, and for one of nothing.
    """
    with open_metastore(metastore) as service:
        if text == _EVERYTHING:
            every = (service.preferences.listed(catalog=each) for each in service.catalog_names())
            found = list(dict.fromkeys(chain.from_iterable(every)))
        else:
            found = list_named(service, text, service.preferences.listed)
    if as_json:
        for each in found:
            typer.echo(json.dumps(_stated_fields(each), ensure_ascii=False))
        return
    if not found:
        typer.echo("nothing is stated: all defaults count")
        return
    shown = plain_table(["Of", "Preference", "Value", "By"], ["Age"])
    for each in found:
        by = "skip.stats.autoupdate" if each.of_hive else each.set_by or ""
        shown.add_row(str(each.subject), each.name, each.text, by, "" if each.of_hive else age(each.set_at_seconds))
    print_table(shown)


def _subjects(text: str, partitions: Sequence[str], column: str | None) -> list[Subject]:
    """The object that is named, or these partitions of it."""
    if partitions and column is not None:
        raise StatementError("a preference is of a partition or of a column, found both")
    database, table = (None, None) if text == _EVERYTHING else named_scope(text)
    if table is None and (partitions or column):
        raise StatementError(f"a partition or a column is of a table, found {text} alone")
    if database is None:
        return [EVERYTHING]
    if partitions:
        return [Subject(database, table, each) for each in partitions]
    return [Subject(database, table, None, column.lower() if column else None)]


def _as_stored(service: Metastore, subjects: list[Subject]) -> list[Subject]:
    """The objects, partitions by the names that the metastore has for them: letters and order of keys do not count.

    A name that no partition can have stays as it is. Raises StatementError for a missing table.
    """
    table_name = subjects[0].table_name
    if table_name is None or subjects[0].partition is None:
        return subjects
    keys = [each.name for each in service.existing_table(table_name).partition_keys]
    stored = (possible_names([each.partition or ""], keys) for each in subjects)
    return [replace(each, partition=names[0]) if names else each for each, names in zip(subjects, stored, strict=True)]


def _hive(service: Metastore, subject: Subject) -> Parameters | None:
    """The parameters of a partition or a table; None for another object. Raises StatementError for a missing one."""
    if subject.table_name is None:
        return None
    if subject.column is not None:
        service.table(subject.table_name).column(subject.column)
        return None
    table = service.existing_table(subject.table_name)
    if subject.partition is None:
        return table.parameters
    found = list(service.partitions(subject.table_name, [subject.partition]))
    if not found:
        raise StatementError(f"table {subject.table_name.typed} has no partition {subject.partition}")
    return found[0].parameters


def _in_force(
    service: Metastore, subject: Subject, names: Iterable[str], hive: Parameters | None = None
) -> list[Effective]:
    """The preferences in force for an object, without those that mean nothing to it."""
    if subject.database is None:
        stated = service.preferences.stated("", None)
    elif subject.table_name is not None:
        stated = service.preferences.of_table(subject.table_name)
    else:
        stated = service.preferences.stated(subject.database.database, None, subject.database.catalog)
    wanted = set(names)
    return [
        each
        for each in stated.each_in_force(subject, hive)
        if each.name in wanted and subject.level in KINDS[each.name].levels
    ]


def _print_in_force(in_force: Mapping[Subject, Sequence[Effective]], *, as_json: bool) -> None:
    """Print values by object; several objects, which are partitions, are named."""
    if as_json:
        rows = [_fields(subject, each) for subject, found in in_force.items() for each in found]
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    shown = plain_table([*(["Partition"] if len(in_force) > 1 else []), "Preference", "Value", "From"])
    for subject, found in in_force.items():
        of = [subject.partition or ""] if len(in_force) > 1 else []
        for each in found:
            shown.add_row(*of, each.name, each.text, each.origin)
    print_table(shown)


def _fields(subject: Subject, each: Effective) -> dict[str, Any]:
    of = {} if subject.partition is None else {"partition": subject.partition}
    by = {} if each.stated is None else _by(each.stated)
    return {**of, "name": each.name, "value": each.text, "from": each.origin, **by}


def _by(stated: Preference) -> dict[str, Any]:
    if stated.of_hive:
        return {}
    return {"set_by": stated.set_by, "set_at": datetime.fromtimestamp(stated.set_at_seconds, UTC).isoformat()}


def _stated_fields(each: Preference) -> dict[str, Any]:
    of, database = each.subject, each.subject.database
    named = {
        "catalog": database.catalog if database else None,
        "database": database.database if database else None,
        "table": of.table,
        "partition": of.partition,
        "column": of.column,
    }
    return {**named, "name": each.name, "value": each.text, "of_hive": each.of_hive, **_by(each)}
