"""`hmstats export`: all statistics of a metastore in one Parquet or JSON file."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.interrupts import ended_by_signals
from hmstats.client.sending.transfer import check_patterns, check_present, entries
from hmstats.errors import StatementError
from hmstats.outlets.export.file import Form, form_of, write
from hmstats.outlets.export.lines import write_lines
from hmstats.outlets.export.rows import Entry

_STDOUT = "-"


def export_statistics(
    *,
    file: Path,
    tables: list[str] | None,
    form: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Write the file. Raises StatementError for what is not there."""
    check_patterns(tables or ())
    to_stdout = str(file) == _STDOUT
    wanted = Form.JSON if to_stdout and form is None else _form(file, form)
    if to_stdout and wanted is not Form.JSON:
        raise StatementError("standard output takes JSON only: name a file for Parquet")
    what_stays = "the output is not whole" if to_stdout else "no file was written"
    with ended_by_signals(what_stays), open_metastore(metastore) as service:
        check_present(service, tables or ())
        found: Iterable[Entry] = entries(service, tables or ())
        count = write_lines(sys.stdout, found) if to_stdout else write(file, found, wanted)
    if as_json:
        typer.echo(json.dumps({"file": str(file), "written": count}, ensure_ascii=False), err=to_stdout)
        return
    noun = "table or partition" if count == 1 else "tables and partitions"
    place = "standard output" if to_stdout else file
    typer.echo(f"written to {place}: statistics of {count:,} {noun}", err=to_stdout)


def _form(file: Path, name: str | None) -> Form:
    if name is None:
        return form_of(file)
    try:
        return Form(name.lower())
    except ValueError as error:
        raise StatementError(f"--format takes parquet or json, found {name!r}") from error
