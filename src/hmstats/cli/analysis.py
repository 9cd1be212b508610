"""What `hmstats analyze` does once its arguments are read: one Spark for all tables, one table after the other.

Importing this module imports Spark.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from hmstats import collector
from hmstats.cli.analysis_output import print_dry_runs, print_report, print_reports, progress_bar
from hmstats.client import Metastore, connect
from hmstats.collector.dry_run import DryRun, dry_run
from hmstats.collector.job_log import JobLog
from hmstats.collector.options import Options
from hmstats.collector.plan import check
from hmstats.collector.prepare import check_changes
from hmstats.collector.session import LOCAL, cores_of, session_is_given, spark_session
from hmstats.collector.session_settings import session_metastore
from hmstats.collector.sql import is_statement
from hmstats.collector.statement import Statement, statement
from hmstats.errors import HmstatsError, StatementError
from hmstats.model.catalog import VIRTUAL_VIEW

_EVERY_TABLE = ".*"
_FAILED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Tables to analyse, and how. `metastore` is an address; `named` says whether someone chose it."""

    texts: Sequence[str]
    columns: Sequence[str] | None
    partitions: Mapping[str, str | None] | None
    noscan: bool
    row_counts: bool
    changed_only: bool
    options: Options
    metastore: str
    named: bool
    master: str | None
    conf: Mapping[str, str]
    spool: str | None
    patience_seconds: float
    reliable: bool
    job_log: Path | None
    as_json: bool

    def dry_run(self) -> None:
        """Print what would be done. Raises StatementError."""
        cores = None if session_is_given() else cores_of(self.master or LOCAL)
        with connect(self.metastore) as service:
            plans = [self._planned(service, request, cores) for _, request in self._requests(service)]
        if self.as_json:
            _print_json(plans)
        else:
            print_dry_runs(plans)

    def run(self) -> None:
        """Analyse and print what was found. What is said wrongly is an error before Spark starts.

        With several tables, one that fails does not keep the others from being analysed; the exit code tells.
        """
        log = None if self.job_log is None else JobLog(self.job_log)
        if log is not None:
            log.check()
        uris = None if session_is_given() and not self.named else self.metastore
        found = self._checked(uris) if uris else None
        with spark_session(uris, master=self.master, conf=self.conf) as spark:
            address = uris or session_metastore(spark)
            wanted = self._checked(address) if found is None else found
            alone = len(wanted) == 1
            outcomes = [self._logged(log, spark, address, *each, alone=alone) for each in wanted]
        reports = [report for report in outcomes if report is not None]
        self._print(reports, alone=alone)
        if len(reports) < len(wanted):
            raise typer.Exit(_FAILED)

    def _checked(self, address: str) -> list[tuple[str, str]]:
        """Text and name of each table, after a look at whether all of them can be analysed. Raises StatementError."""
        with connect(address) as service:
            found = list(self._requests(service))
            for _, request in found:
                check_changes(request, changed_only=self.changed_only)
                check(service, request)
        if not found:
            raise StatementError(f"there is no table in {', '.join(self.texts)}")
        return [(text, f"{request.table.database}.{request.table.table}") for text, request in found]

    def _requests(self, service: Metastore) -> Iterator[tuple[str, Statement]]:
        """The text and the request for each table; views are none of a database's tables."""
        for text in self.texts:
            if is_statement(text) or not text.endswith(_EVERY_TABLE):
                yield text, self._request(text)
                continue
            database = text.removesuffix(_EVERY_TABLE)
            for name in service.table_names(database.strip("`")):
                request = self._request(f"{database}.`{name}`")
                table = service.find_table(request.table)
                if table is not None and table.table_type != VIRTUAL_VIEW:
                    yield f"{database}.`{name}`", request

    def _request(self, text: str) -> Statement:
        return statement(text, columns=self.columns, partitions=self.partitions, noscan=self.noscan)

    def _planned(self, service: Metastore, request: Statement, cores: int | None) -> DryRun:
        return dry_run(service, request, options=self.options, changed_only=self.changed_only, cores=cores)

    def _logged(
        self, log: JobLog | None, spark: SparkSession, address: str, text: str, name: str, *, alone: bool
    ) -> collector.Report | None:
        """The report, None after an error that is printed; that of the only table is raised."""
        try:
            report = self._analyzed(spark, address, text, name)
        except HmstatsError as error:
            if log is not None:
                log.failed(name, error)
            if alone:
                raise
            Console(stderr=True, highlight=False, soft_wrap=True).print(f"hmstats: {error}", markup=False)
            return None
        if log is not None:
            log.done(report)
        return report

    def _analyzed(self, spark: SparkSession, address: str, text: str, name: str) -> collector.Report:
        with progress_bar(f"Analysing {name}") as progress:
            return collector.analyze(
                spark,
                text,
                metastore=address,
                columns=self.columns,
                partitions=self.partitions,
                noscan=self.noscan,
                row_counts=self.row_counts,
                changed_only=self.changed_only,
                options=self.options,
                spool=self.spool,
                patience_seconds=self.patience_seconds,
                reliable=self.reliable,
                progress=progress,
            )

    def _print(self, reports: Sequence[collector.Report], *, alone: bool) -> None:
        if self.as_json:
            _print_json(reports)
        elif alone:
            print_report(reports[0])
        elif reports:
            print_reports(reports)


def _print_json(found: Sequence[collector.Report] | Sequence[DryRun]) -> None:
    for each in found:
        typer.echo(json.dumps(each.as_json(), ensure_ascii=False))
