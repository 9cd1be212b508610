"""Checks of what a server on this machine would use: the database's schema, and write access to the warehouse."""

import uuid
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pyarrow.fs import FileSystem, FileType

from hmstats.cli.diagnosis.finding import Finding, ok, problem, warning
from hmstats.cli.serving.roots import warehouse_of
from hmstats.errors import HmstatsError, SchemaError
from hmstats.files.directories import renames
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.location import parse
from hmstats.service.warehouse.warehouse import EVERYWHERE
from hmstats.settings import Settings
from hmstats.store.beside_hive import present_tables
from hmstats.store.catalog.roots import needed_roots
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import Store, database_url
from hmstats.store.migration import schema_revision
from hmstats.store.migration.hive_survey import MANAGED

_TRIAL = ".hmstats-doctor-"


def database(settings: Settings, *, named: bool) -> Iterator[Finding]:
    """Whether the database answers, its schema is of this version, and the roots hold its databases and tables.

    `named`: the user gave the database.
    """
    shown = shown_url(database_url(settings.database))
    try:
        found, newest = schema_revision.current(settings.database), schema_revision.head()
    except HmstatsError as error:
        yield problem("database", str(error), "start it, or mend its URL (--database or HMSTATS__DATABASE)")
        return
    if schema_revision.is_next(found):
        yield ok("database", f"{shown} at schema {found}, one newer than this version's, which serves it")
        yield _roots(settings)
    elif found == newest:
        yield ok("database", f"{shown} at schema {found}")
        yield _roots(settings)
    elif found is not None:
        migrate = "run `hmstats migrate --database URL`"
        advice = migrate if found < newest else f"use the version of hmstats that made schema {found}"
        yield problem("database", f"{shown} at schema {found}, this version needs {newest}", advice)
    else:
        yield _without_schema(settings, shown, named=named)


def _without_schema(settings: Settings, shown: str, *, named: bool) -> Finding:
    if database_url(settings.database).get_backend_name() != "sqlite":
        try:
            of_hive = _is_of_hive(settings)
        except SchemaError as error:
            return problem("database", str(error), "name another database (--database or HMSTATS__DATABASE)")
        if of_hive:
            return problem(
                "database", f"{shown} is a Hive's, and our tables are not in it", "run `hmstats adopt --write`"
            )
        return problem("database", f"{shown} has no schema of hmstats", "run `hmstats migrate --database URL`")
    if named:
        return warning("database", f"{shown} is not there yet", "`hmstats serve` makes it")
    return ok("database", f"{shown} is not in this folder; it is looked at where the server runs")


def _is_of_hive(settings: Settings) -> bool:
    store = Store.open(settings.database, pool_size=1, read_only=True)
    try:
        with store.read() as connection:
            return present_tables.read(connection).beside_hive
    finally:
        store.close()


def _roots(settings: Settings) -> Finding:
    """Whether a server with these settings may change the directories of all databases and managed tables."""
    allowed = warehouse_of(settings).roots
    store = Store.open(settings.database, pool_size=1, read_only=True)
    try:
        with store.read() as connection:
            needed = needed_roots(connection, allowed[0], MANAGED)
    finally:
        store.close()
    named = [parse(each) for each in allowed if each != EVERYWHERE]
    outside = [each for each in needed if not any(parse(each) == one or one.holds(parse(each)) for one in named)]
    if EVERYWHERE in allowed or not outside:
        return ok("roots", f"all databases and managed tables lie in {', '.join(allowed)}")
    advice = f"set warehouse_roots, as HMSTATS__WAREHOUSE_ROOTS={','.join([*allowed[1:], *outside])}"
    return warning("roots", f"databases or managed tables lie outside of them, in {', '.join(outside)}", advice)


def write_rights(warehouse: str) -> Iterator[Finding]:
    """Whether this user can write to the warehouse; creates a file there and removes it."""
    made = f"this user can write to {warehouse}"
    try:
        system, path = open_location(warehouse if "://" in warehouse else str(Path(warehouse).absolute()))
        if renames(system) and system.get_file_info(path).type is FileType.NotFound:
            path = _nearest_folder(system, path)
            made = f"{warehouse} is not there yet; the server makes it"
        trial = f"{path.rstrip('/')}/{_TRIAL}{uuid.uuid4()}"
        with system.open_output_stream(trial) as stream:
            stream.write(b"")
        system.delete_file(trial)
    except (OSError, HmstatsError) as error:
        advice = "give the server's and the engines' user the right to write there, or name another --warehouse"
        yield problem("write rights", f"{warehouse} cannot be written to: {error}", advice)
        return
    yield ok("write rights", made)


def _nearest_folder(system: FileSystem, path: str) -> str:
    """The nearest existing folder above a path whose last folders are missing."""
    above = map(str, PurePosixPath(path).parents)
    return next(each for each in above if system.get_file_info(each).type is not FileType.NotFound)
