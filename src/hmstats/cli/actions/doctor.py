"""The work of `hmstats doctor`: each check in turn, printed when it is done."""

import json
from collections.abc import Iterable, Iterator, Sequence

import typer

from hmstats.cli.actions.spark_arguments import spark_settings
from hmstats.cli.diagnosis.finding import Finding
from hmstats.cli.diagnosis.server import server
from hmstats.cli.diagnosis.storage import database as database_findings
from hmstats.cli.diagnosis.storage import write_rights
from hmstats.cli.diagnosis.versions import versions
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving.serve_settings import load_served
from hmstats.outlets.people.cells import amount
from hmstats.settings import origin

_INDENT = " " * 9


def examine(
    *,
    spark: bool,
    metastore: str | None,
    database: str | None,
    warehouse: str | None,
    master: str | None,
    conf: Sequence[str],
    as_json: bool,
) -> None:
    """Run all checks and print a line for each. Raises typer.Exit if there is a problem."""
    flags = {"metastore": metastore, "database": database, "warehouse": warehouse}
    settings = load_served(flags)
    options = spark_settings(conf)

    def run_checks() -> Iterator[Finding]:
        yield from versions(spark_is_needed=spark)
        yield from database_findings(settings, named=origin("database", flags) != "default")
        yield from write_rights(settings.warehouse)
        yield from server(settings.metastore)
        if spark:
            from hmstats.cli.diagnosis.session import session  # noqa: PLC0415 - Spark is loaded when it is asked for

            yield from session(settings.metastore, master=master, conf=options)

    levels = [each.level for each in _print_each(run_checks(), as_json=as_json)]
    if not as_json:
        typer.echo(", ".join(amount(levels.count(each), each) for each in ("problem", "warning")))
    if "problem" in levels:
        raise typer.Exit(ExitCode.NO)


def _print_each(findings: Iterable[Finding], *, as_json: bool) -> Iterator[Finding]:
    for each in findings:
        if as_json:
            typer.echo(json.dumps(each.as_json(), ensure_ascii=False))
        else:
            typer.echo(f"{each.level:<8} {each.subject}: {each.found}")
            if each.advice:
                typer.echo(f"{_INDENT}{each.advice}")
        yield each
