"""The work of `hmstats prefs`: set, remove and print preferences."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import typer

from hmstats.cli.output.cell_texts import age
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client import Metastore, connect
from hmstats.client.naming import named_object
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Parameters
from hmstats.model.preferences.in_force import Effective
from hmstats.model.preferences.preference import EVERYTHING, Preference, Subject
from hmstats.model.preferences.values import KINDS
from hmstats.settings import load

_EVERYTHING = "*"


def set_preferences(
    text: str, values: Sequence[str], *, partition: str | None, column: str | None, metastore: str | None, as_json: bool
) -> None:
    """Set preferences, and print what counts then. Raises StatementError for a malformed name or text."""
    subject = _subject(text, partition, column)
    pairs = [each.partition("=") for each in values]
    for each, (name, separator, _) in zip(values, pairs, strict=True):
        if not name or not separator:
            raise StatementError(f"a preference must be NAME=VALUE, found {each!r}")
    put = {name.strip().replace("-", "_"): value for name, _, value in pairs}
    with _connected(metastore) as service:
        service.preferences.change(subject, put)
        _print_in_force(_in_force(service, subject, put), as_json=as_json)


def unset_preferences(
    text: str, names: Sequence[str], *, partition: str | None, column: str | None, metastore: str | None, as_json: bool
) -> None:
    """Remove preferences, and print what counts then. Raises StatementError if none was set."""
    subject = _subject(text, partition, column)
    wanted = [each.replace("-", "_") for each in names]
    with _connected(metastore) as service:
        if not service.preferences.change(subject, {}, wanted):
            raise StatementError(f"{', '.join(wanted)} of {subject} was not set: hmstats prefs show says what is")
        _print_in_force(_in_force(service, subject, wanted), as_json=as_json)


def show_preferences(
    text: str, *, partition: str | None, column: str | None, metastore: str | None, as_json: bool
) -> None:
    """Print what counts for an object. Raises StatementError for a malformed name or a missing object."""
    subject = _subject(text, partition, column)
    with _connected(metastore) as service:
        hive = _hive(service, subject)
        _print_in_force(_in_force(service, subject, KINDS, hive), as_json=as_json)


def list_preferences(text: str, *, metastore: str | None, as_json: bool) -> None:
    """Print all that is stated of the databases and tables that match. Raises StatementError for a malformed name."""
    with _connected(metastore) as service:
        if text == _EVERYTHING:
            found = service.preferences.listed()
        else:
            database, table = named_object(text)
            found = service.preferences.listed(database.database, table, database.catalog)
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


def _connected(metastore: str | None) -> Metastore:
    settings = load({"metastore": metastore})
    return connect(settings.metastore, timeout_seconds=settings.client_seconds)


def _subject(text: str, partition: str | None, column: str | None) -> Subject:
    if partition is not None and column is not None:
        raise StatementError("a preference is of a partition or of a column, found both")
    database, table = (None, None) if text == _EVERYTHING else named_object(text)
    if table is None and (partition or column):
        raise StatementError(f"a partition or a column is of a table, found {text} alone")
    if database is None:
        return EVERYTHING
    return Subject(database, table, partition, column.lower() if column else None)


def _hive(service: Metastore, subject: Subject) -> Parameters | None:
    """The parameters of a partition or a table, which must exist; None if the object is none."""
    if subject.table_name is None:
        return None
    table = service.existing_table(subject.table_name)
    if subject.partition is None:
        return None if subject.column else table.parameters
    found = list(service.partitions(subject.table_name, [subject.partition]))
    if not found:
        raise StatementError(f"{subject.table_name.short} has no partition {subject.partition}")
    return found[0].parameters


def _in_force(
    service: Metastore, subject: Subject, names: Iterable[str], hive: Parameters | None = None
) -> list[Effective]:
    """What counts for an object, without the preferences that mean nothing to it."""
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


def _print_in_force(found: Sequence[Effective], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([_fields(each) for each in found], ensure_ascii=False))
        return
    shown = plain_table(["Preference", "Value", "From"])
    for each in found:
        shown.add_row(each.name, each.text, each.origin)
    print_table(shown)


def _fields(each: Effective) -> dict[str, Any]:
    stated = each.stated
    return {"name": each.name, "value": each.text, "from": each.origin} | ({} if stated is None else _by(stated))


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
