"""The work of `hmstats analyze --catalog`: Iceberg tables of a catalog of PyIceberg's configuration, without Spark."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.analysis_output import print_report, print_reports
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.collector.job_log import JobLog
from hmstats.collector.lake.catalogs.analysis import analyze_in_catalog
from hmstats.collector.lake.catalogs.named import NamedCatalog, open_catalog
from hmstats.collector.options import Choices, Options
from hmstats.collector.report import Report
from hmstats.errors import HmstatsError, StatementError

_EVERY_TABLE = ".*"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogAnalysis:
    """Tables of a catalog to analyse, and how. `unfit` are options that were set, but that only a metastore has."""

    catalog: NamedCatalog
    texts: Sequence[str]
    columns: Sequence[str] | None
    changed_only: bool
    options: Choices
    unfit: Sequence[str]
    job_log: Path | None
    as_json: bool

    def run(self) -> None:
        """Analyse the tables, print the reports, and close the catalog.

        If one of several tables fails, the others are still analysed.
        """
        with closing(self.catalog):
            self._run()

    def _run(self) -> None:
        self._check_options()
        log = None if self.job_log is None else JobLog(self.job_log)
        if log is not None:
            log.check()
        names = list(self._names())
        if not names:
            raise StatementError(f"{', '.join(self.texts)} has no table in catalog {self.catalog.name}")
        alone = len(names) == 1
        outcomes = [self._analyze_and_log(log, name, alone=alone) for name in names]
        reports = [report for report in outcomes if report is not None]
        self._print(reports, alone=alone)
        if not reports:
            raise typer.Exit(ExitCode.ERROR)
        if len(reports) < len(names) or any(report.skipped for report in reports):
            raise typer.Exit(ExitCode.PARTLY_DONE)

    def _check_options(self) -> None:
        if self.unfit:
            raise StatementError(f"tables of catalog {self.catalog.name} take no {', '.join(self.unfit)}")

    def _names(self) -> Iterator[str]:
        """The table's names; DB.* are all tables of a namespace."""
        for text in self.texts:
            if text.endswith(_EVERY_TABLE):
                yield from self.catalog.tables(text.removesuffix(_EVERY_TABLE))
            else:
                yield text

    def _analyze_and_log(self, log: JobLog | None, name: str, *, alone: bool) -> Report | None:
        """Analyse and log a table; the report, or None after a printed error.

        If it is the only table, the error is raised.
        """
        try:
            report = analyze_in_catalog(
                self.catalog.table(name),
                columns=self.columns,
                changed_only=self.changed_only,
                options=_options(self.options),
            )
        except HmstatsError as error:
            if log is not None:
                log.add_failure(name, error)
            if alone:
                raise
            typer.echo(f"hmstats: {plain_sentence(str(error))}", err=True)
            return None
        if log is not None:
            log.add_report(report)
        return report

    def _print(self, reports: Sequence[Report], *, alone: bool) -> None:
        if self.as_json:
            for report in reports:
                typer.echo(json.dumps(report.as_json(), ensure_ascii=False))
            return
        if alone:
            print_report(reports[0], done="analysed")
        elif reports:
            print_reports(reports)
        typer.echo(f"catalog {self.catalog.name} keeps distinct counts alone: other numbers are stored nowhere")


def open_for_analysis(name: str, metastore: str | None) -> NamedCatalog:
    """The catalog with this name. Raises StatementError if a metastore is named beside it; as open_catalog."""
    if metastore is not None:
        raise StatementError(f"catalog {name} says where its tables are: leave out --metastore")
    return open_catalog(name)


def _options(choices: Choices) -> Options:
    """The options by the command line alone: preferences are kept in a metastore."""
    return Options(**{name: value for name, value in asdict(choices).items() if value is not None})
