"""The work of `hmstats refresh`: a plan, then one analysis after the other, with Spark only if a table needs it."""

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import typer

from hmstats import collector
from hmstats.cli.actions.spark_arguments import JobSettings, need_spark
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.interrupts import ended_by_signals
from hmstats.cli.output.refresh_output import done_text, print_none, print_plan, work_as_json
from hmstats.client import connect
from hmstats.client.naming import named_object
from hmstats.client.tables.existing import check_exists
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.options import Choices
from hmstats.collector.planning.preferred import apply_preferences
from hmstats.collector.refresh.round import Done, Refresher
from hmstats.collector.refresh.watching import Watch
from hmstats.collector.request.statement import statement
from hmstats.errors import SettingsError, SparkDoesNotStart, SparkNeeded, StatementError
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName
from hmstats.model.durations import duration_seconds
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Outcome
from hmstats.model.preferences.windows import parse_windows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hmstats.collector.report import Report

_NEVER = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """Tables to refresh (none: all of all catalogs), and how."""

    texts: Sequence[str]
    budget: str | None
    window: str | None
    quiet: str
    look: str
    options: Choices
    job: JobSettings
    as_json: bool

    @property
    def wanted(self) -> RefreshRequest:
        """The tables and limits. Raises StatementError or InvalidInput for a malformed text."""
        return RefreshRequest(
            tuple(named_object(each) for each in self.texts),
            None if self.budget is None else duration_seconds(self.budget),
            () if self.window is None else parse_windows(self.window),
            duration_seconds(self.quiet),
            None if self.look == _NEVER else duration_seconds(self.look),
        )

    def dry_run(self) -> None:
        """Print the plan of a round. Raises StatementError for a name of nothing."""
        self._check_names()
        found = Refresher(self.job.metastore, _no_analysis, self.wanted).plan()
        if self.as_json:
            for each in found.plan.taken:
                typer.echo(json.dumps(work_as_json(each), ensure_ascii=False))
        else:
            print_plan(found.plan.taken, found.plan.left, found.skipped)

    def run(self, *, watch: bool) -> None:
        """Refresh, and print a line for each piece; the exit code is PARTLY_DONE if something failed."""
        if not watch:  # which may wait for what is to come
            self._check_names()
        failed = begun = False
        with ended_by_signals("what was finished is stored, and the table is free"), _Analyses(self) as analyses:
            refresher = Refresher(self.job.metastore, analyses.analyse, self.wanted)
            with _ended_after_a_slice(refresher):
                for done in Watch(refresher).rounds() if watch else refresher.run():
                    failed |= done.outcome is Outcome.FAILED
                    begun = True
                    self._print(done)
        if not (begun or watch or self.as_json or refresher.stop.is_set()):
            print_none(refresher.skipped, in_window=refresher.is_open())
        if failed:
            raise typer.Exit(ExitCode.PARTLY_DONE)

    def _check_names(self) -> None:
        with connect(self.job.metastore) as service:
            for each in self.texts:
                check_exists(service, each)

    def _print(self, done: Done) -> None:
        if self.as_json:
            outcome = None if done.outcome is None else done.outcome.value
            row = {"outcome": outcome, "message": done.reason, "seconds": round(done.seconds, 3), "rows": done.rows}
            typer.echo(json.dumps({**work_as_json(done.work), **row}, ensure_ascii=False))
        else:
            typer.echo(done_text(done.work, done.outcome, done.reason, done.seconds))


@dataclass(slots=True)
class _Analyses:
    """Analyses of tables; a Spark session is begun for the first table that needs one. A context manager."""

    how: Refresh
    _spark: "SparkSession | None" = None
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def analyse(self, name: TableName, partitions: Sequence[str], changed_only: bool) -> "Report":  # noqa: FBT001
        """Analyse a table, or some of its partitions."""
        with suppress(SparkNeeded):
            report = self._analyse_by_metadata(name, changed_only=changed_only)
            if report is not None:
                return report
        return self._analyse_by_spark(name, partitions, changed_only=changed_only)

    def _analyse_by_metadata(self, name: TableName, *, changed_only: bool) -> "Report | None":
        """The report of a table whose format's own metadata say which files are live, None of another table.

        Raises SparkNeeded for one that Spark alone reads.
        """
        job = self.how.job
        with connect(job.metastore, patience_seconds=job.patience_seconds) as service:
            table = service.existing_table(name)
            if not is_lake_table(table):
                return None
            wanted = apply_preferences(service, statement(_quote_table(name)), self.how.options, row_counts=False)
            delivery = job.delivery(table.name, automatic=True)
            analyze = partial(analyze_lake, service, table, wanted.request, wanted.options, delivery, row_counts=False)
            report = analyze(changed_only=True, hadoop=job.hadoop)
            # Statistics of this very version are stale too if some are missing, or if queries blame them.
            if changed_only or not report.unchanged:
                return report
            return analyze(changed_only=False, hadoop=job.hadoop)

    def _analyse_by_spark(self, name: TableName, partitions: Sequence[str], *, changed_only: bool) -> "Report":
        how, session = self.how, self._session()
        with import_module("hmstats.collector.scan.task_errors").translate_all_errors():
            return collector.analyze(
                session,
                _quote_table(name),
                metastore=how.job.metastore,
                partitions=list(partitions) or None,
                changed_only=changed_only,
                automatic=True,
                options=how.options,
                spool=how.job.spool,
                patience_seconds=how.job.patience_seconds,
            )

    def _session(self) -> "SparkSession":
        if self._spark is None:
            job = self.how.job
            try:
                need_spark("refresh")
                session = import_module("hmstats.collector.spark.session").spark_session
                self._spark = self._open.enter_context(session(job.metastore, master=job.master, conf=job.conf))
            except SettingsError as error:
                raise SparkDoesNotStart(str(error)) from error
        return self._spark


def _quote_table(name: TableName) -> str:
    catalog = () if name.catalog == DEFAULT_CATALOG else (name.catalog,)
    return quote_name(*catalog, name.database, name.table)


def _no_analysis(name: TableName, *_: object) -> "Report":
    raise StatementError(f"a dry run analyses nothing, found {name}")


@contextmanager
def _ended_after_a_slice(refresher: Refresher) -> Iterator[None]:
    """Let SIGTERM and SIGINT end the round after the run that is under way; a second one ends it at once."""

    def stop(number: int, _: FrameType | None) -> None:
        if refresher.stop.is_set():
            signal.signal(number, before[number])
            signal.raise_signal(number)
        refresher.stop.set()
        typer.echo("ends after what is being read", err=True)

    before: dict[int, Any] = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
