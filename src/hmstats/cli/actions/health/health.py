"""The work of `hmstats health`: read health, and print a row for each table or partition."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.health_output import as_json_object, nothing_text, print_health
from hmstats.client import Metastore
from hmstats.client.connection.batches import batches
from hmstats.client.naming import named_object, named_table
from hmstats.client.refusals import refusals
from hmstats.client.tables.existing import check_exists, named_or_all
from hmstats.errors import HmstatsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.catalog.table_formats import table_format
from hmstats.model.health.health import WHOLE
from hmstats.model.health.pages import ObjectHealth

_OBJECTS_AT_ONCE = 1_000


def list_health(
    *,
    tables: list[str] | None,
    below: int | None,
    most: int,
    partitions: bool,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Print health; the exit code is 1 if `below` is given and anything is. Raises StatementError for a bad name."""
    with open_metastore(metastore) as service:
        found = _read_health(service, named_or_all(service, tables), below, partitions=partitions)
        if as_json:
            number = _print_as_json(service, found)
        else:
            shown = list(islice(found, most + 1))
            number = len(shown)
            if shown:
                print_health(shown[:most], _refused(service, shown[:most]), more=number > most)
            else:
                typer.echo(nothing_text(below, partitions=partitions))
        for sentence in _lake_warnings(service, tables or ()):
            typer.echo(f"warning: {sentence}", err=True)
    if below is not None and number:
        raise typer.Exit(ExitCode.NO)


def _print_as_json(service: Metastore, found: Iterable[ObjectHealth]) -> int:
    """Print an object for each as they are read. Returns how many there were."""
    number = 0
    for batch in batches(found, _OBJECTS_AT_ONCE):
        refused = _refused(service, batch)
        for each in batch:
            typer.echo(json.dumps(as_json_object(each, refused.get(each.table)), ensure_ascii=False))
        number += len(batch)
    return number


def _refused(service: Metastore, found: Iterable[ObjectHealth]) -> dict[TableName, str]:
    """The reasons why an analysis refuses tables among those with a health below 100, by table."""
    return refusals(service, dict.fromkeys(each.table for each in found if each.health.health < WHOLE))


def _lake_warnings(service: Metastore, texts: Iterable[str]) -> Iterator[str]:
    """Warnings about Iceberg tables whose metadata makes Spark plan wrong; tables that cannot be read are skipped."""
    for text in texts:
        if "*" in text or named_object(text)[1] is None:
            continue
        with suppress(HmstatsError):
            table = service.existing_table(text)
            if table_format(table) == "Iceberg":
                from hmstats.collector.lake.iceberg.spark_warnings import spark_warnings  # noqa: PLC0415 - loads Arrow

                yield from spark_warnings(table)


def _read_health(
    service: Metastore, texts: list[str], below: int | None, *, partitions: bool
) -> Iterator[ObjectHealth]:
    """The health of everything that is named, merged from lists that have the worst first."""
    read = _read_partitions if partitions else _read_tables
    yield from merge(*(read(service, each, below) for each in texts), key=lambda each: each.health.health)


def _read_partitions(service: Metastore, text: str, below: int | None) -> Iterator[ObjectHealth]:
    if "*" in text:
        raise StatementError(f"--partitions takes the name of one table, found {text}")
    if not service.existing_table(text).partition_keys:
        raise StatementError(f"table {text} has no partitions")
    yield from service.health.partitions(named_table(text), below=below)


def _read_tables(service: Metastore, text: str, below: int | None) -> Iterator[ObjectHealth]:
    of, table = named_object(text)
    check_exists(service, text)
    yield from service.health.tables(of.database, table, below=below, catalog=of.catalog)
