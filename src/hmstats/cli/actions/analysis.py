"""The work of `hmstats analyze`: one Spark session for all tables, one table after the other.

Importing this module imports Spark.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from hmstats import collector
from hmstats.cli.actions.spark_arguments import JobSettings
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.interrupts import ended_by_signals
from hmstats.cli.output.analysis_output import (
    announce_spark_start,
    print_dry_runs,
    print_report,
    print_reports,
    progress_bar,
)
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.client import Metastore, connect
from hmstats.client.naming import named_pattern
from hmstats.collector.dry_run import DryRun, dry_run
from hmstats.collector.job_log import JobLog
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.lake.plan import plan_lake
from hmstats.collector.options import AS_PREFERRED, Choices
from hmstats.collector.planning.locked import LOCKED, check_unlocked
from hmstats.collector.planning.plan import LEFT_OUT, resolve_table
from hmstats.collector.planning.preferred import apply_preferences
from hmstats.collector.planning.prepare import check_changes
from hmstats.collector.request.analyze_sql import is_statement
from hmstats.collector.request.statement import Statement, statement
from hmstats.collector.spark.session import LOCAL, cores_of, session_is_given, spark_session
from hmstats.collector.spark.session_settings import session_metastore
from hmstats.errors import HmstatsError, StatementError
from hmstats.model.catalog.objects import VIRTUAL_VIEW, DatabaseName
from hmstats.model.catalog.refused_tables import refusal

_EVERY_TABLE = ".*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Tables to analyse, and how. With `past_locks`, locked statistics are written too."""

    texts: Sequence[str]
    columns: Sequence[str] | None
    partitions: Sequence[str] | None
    where: str | None
    noscan: bool
    row_counts: bool
    changed_only: bool
    past_locks: bool
    options: Choices
    job: JobSettings
    reliable: bool
    job_log: Path | None
    as_json: bool

    def dry_run(self) -> None:
        """Print the plan of the analysis. Raises StatementError."""
        cores = None if session_is_given() else cores_of(self.job.master or LOCAL)
        with connect(self.job.metastore) as service:
            plans = [self._plan_table(service, request, cores) for _, request in self._requests(service)]
        if self.as_json:
            _print_json(plans)
        else:
            print_dry_runs(plans)

    def run(self) -> None:
        """Analyse the tables and print the reports. Invalid arguments are reported before Spark starts.

        If one of several tables fails, the others are still analysed. The exit code is PARTLY_DONE then, and if
        requested columns cannot have statistics.
        """
        log = None if self.job_log is None else JobLog(self.job_log)
        if log is not None:
            log.check()
        with ended_by_signals("what was stored of partitions and tables stays, the others are as before"):
            self._run(log)

    def _run(self, log: JobLog | None) -> None:
        """Analyse the tables, with Spark only if one of them needs it."""
        given = session_is_given()
        uris = None if given and not self.job.metastore_is_set else self.job.metastore
        found = self._check_tables(uris) if uris else None
        if uris and found and not given and all(each.by_metadata for each in found):
            self._finish(log, None, uris, found)
            return
        announce_spark_start(given=given)
        with spark_session(uris, master=self.job.master, conf=self.job.conf) as spark:
            address = uris or session_metastore(spark)
            self._finish(log, spark, address, self._check_tables(address) if found is None else found)

    def _finish(
        self, log: JobLog | None, spark: SparkSession | None, address: str, wanted: Sequence["_TableRequest"]
    ) -> None:
        """Analyse the tables and print the reports; without Spark if none of them needs it."""
        alone = len(wanted) == 1
        outcomes = [self._analyze_and_log(log, spark, address, each, alone=alone) for each in wanted]
        reports = [report for report in outcomes if report is not None]
        self._print(reports, alone=alone)
        if not reports:
            raise typer.Exit(ExitCode.ERROR)
        if len(reports) < len(wanted) or any(_lacks_columns(report) for report in reports):
            raise typer.Exit(ExitCode.PARTLY_DONE)

    def _check_tables(self, address: str) -> list["_TableRequest"]:
        """The wanted tables, after a check that all of them can be analysed. Raises StatementError."""
        with connect(address) as service:
            found = [self._check_table(service, *each) for each in self._requests(service)]
            if len(found) == 1 and not self.past_locks and not self.changed_only:
                check_unlocked(service, found[0].request.table)
        if not found:
            raise StatementError(f"{', '.join(self.texts)} has no table to analyse")
        return found

    def _check_table(self, service: Metastore, text: str, request: Statement) -> "_TableRequest":
        check_changes(request, changed_only=self.changed_only)
        table = service.find_table(request.table)
        if table is not None and is_lake_table(table):
            # A lock is an error of its table alone, which comes with the analysis.
            wanted = apply_preferences(service, request, self.options, row_counts=self.row_counts)
            plan = plan_lake(
                service,
                table,
                wanted.request,
                wanted.options,
                changed_only=self.changed_only,
                past_locks=True,
                hadoop=self.job.hadoop,
            )
            return _TableRequest(text, request, by_metadata=plan.opened.only_by_spark is None or wanted.request.noscan)
        resolve_table(service, request)
        return _TableRequest(text, request, by_metadata=False)

    def _requests(self, service: Metastore) -> Iterator[tuple[str, Statement]]:
        """The text and the request for each table."""
        for text in self.texts:
            if is_statement(text) or not text.endswith(_EVERY_TABLE):
                yield text, self._request(text)
                continue
            database = text.removesuffix(_EVERY_TABLE)
            for name in self._names_in(service, named_pattern(text).parent):
                yield f"{database}.`{name}`", self._request(f"{database}.`{name}`")

    def _names_in(self, service: Metastore, of: DatabaseName) -> Iterator[str]:
        """The tables of a database that can be analysed. Views are skipped, refused ones printed with the reason."""
        names = service.table_names(of.database, of.catalog)
        for table in service.tables(of.database, names, of.catalog):
            if table.table_type == VIRTUAL_VIEW:
                continue
            reason = refusal(table)
            if reason is None:
                yield table.name.table
            else:
                typer.echo(f"left out: table {table.name.typed} {reason}", err=True)

    def _request(self, text: str) -> Statement:
        """The request for a table. Raises StatementError for options that would have no effect on it."""
        found = statement(text, columns=self.columns, partitions=self.partitions, where=self.where, noscan=self.noscan)
        if self.row_counts and not found.noscan:
            raise StatementError("--row-counts goes with --noscan only: an analysis of the data counts rows anyway")
        if found.noscan and replace(self.options, most_tasks=None) != AS_PREFERRED:
            raise StatementError("--noscan reads no data, so it takes no sample, no sketches and no Puffin columns")
        return found

    def _plan_table(self, service: Metastore, request: Statement, cores: int | None) -> DryRun:
        return dry_run(
            service,
            request,
            options=self.options,
            changed_only=self.changed_only,
            cores=cores,
            conf=self.job.conf,
            past_locks=self.past_locks,
        )

    def _analyze_and_log(
        self, log: JobLog | None, spark: SparkSession | None, address: str, wanted: "_TableRequest", *, alone: bool
    ) -> collector.Report | None:
        """Analyse and log a table; the report, or None after a printed error.

        If it is the only table, the error is raised.
        """
        name = wanted.request.table.typed
        try:
            report = self._analyze(spark, address, wanted)
        except HmstatsError as error:
            if log is not None:
                log.add_failure(name, error)
            if alone:
                raise
            told = f"hmstats: {plain_sentence(str(error))}"
            Console(stderr=True, highlight=False, soft_wrap=True).print(told, markup=False)
            return None
        if log is not None:
            log.add_report(report)
        return report

    def _analyze(self, spark: SparkSession | None, address: str, wanted: "_TableRequest") -> collector.Report:
        if spark is None:
            return self._analyze_without_spark(wanted.request)
        with progress_bar(f"Analysing {wanted.request.table.typed}") as progress:
            return collector.analyze(
                spark,
                wanted.text,
                metastore=address,
                columns=self.columns,
                partitions=self.partitions,
                where=self.where,
                noscan=self.noscan,
                row_counts=self.row_counts,
                changed_only=self.changed_only,
                past_locks=self.past_locks,
                options=self.options,
                spool=self.job.spool,
                patience_seconds=self.job.patience_seconds,
                reliable=self.reliable,
                progress=progress,
            )

    def _analyze_without_spark(self, request: Statement) -> collector.Report:
        with connect(self.job.metastore, patience_seconds=self.job.patience_seconds) as service:
            table = service.find_table(request.table)
            if table is None:
                raise StatementError(f"table {request.table.typed} was dropped before it was read")
            delivery = self.job.delivery(table.name, past_locks=self.past_locks, automatic=self.changed_only)
            wanted = apply_preferences(service, request, self.options, row_counts=self.row_counts)
            return analyze_lake(
                service,
                table,
                wanted.request,
                wanted.options,
                delivery,
                changed_only=self.changed_only,
                row_counts=wanted.row_counts,
                hadoop=self.job.hadoop,
            )

    def _print(self, reports: Sequence[collector.Report], *, alone: bool) -> None:
        if self.as_json:
            _print_json(reports)
        elif alone:
            print_report(reports[0])
        elif reports:
            print_reports(reports)


def _lacks_columns(report: collector.Report) -> bool:
    """Whether columns cannot have statistics."""
    return any(reason not in (LOCKED, LEFT_OUT) for reason in report.skipped.values())


@dataclass(frozen=True, slots=True)
class _TableRequest:
    """A table to analyse. `by_metadata`: its format's own metadata say which files are live, and no Spark is needed."""

    text: str
    request: Statement
    by_metadata: bool


def _print_json(found: Sequence[collector.Report] | Sequence[DryRun]) -> None:
    for each in found:
        typer.echo(json.dumps(each.as_json(), ensure_ascii=False))
