"""The work of `hmstats check`. Importing this module imports Spark."""

from collections.abc import Sequence
from dataclasses import dataclass

from hmstats import collector
from hmstats.cli.actions.spark_arguments import JobSettings
from hmstats.cli.output.analysis_output import announce_spark_start, progress_bar
from hmstats.client import connect
from hmstats.collector.checking.lake import check_lake
from hmstats.collector.checking.run import check_options
from hmstats.collector.lake.formats import is_lake_table, open_table
from hmstats.collector.planning.plan import resolve_table
from hmstats.collector.request.statement import statement
from hmstats.collector.spark.session import session_is_given, spark_session
from hmstats.collector.spark.session_settings import session_metastore


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A table to check, and how."""

    table: str
    columns: Sequence[str] | None
    partitions: Sequence[str] | None
    where: str | None
    sample_fraction: float
    tolerance: float
    job: JobSettings

    def run(self) -> collector.CheckReport:
        """Check the table. Invalid arguments are reported before Spark starts."""
        options = check_options(self.sample_fraction, self.tolerance)
        request = statement(self.table, columns=self.columns, partitions=self.partitions, where=self.where)
        given = session_is_given()
        uris = None if given and not self.job.metastore_is_set else self.job.metastore
        if uris is not None:
            with connect(uris) as service:
                table = service.find_table(request.table)
                if table is None or not is_lake_table(table):
                    resolve_table(service, request)
                elif not given and open_table(table, self.job.hadoop).only_by_spark is None:
                    return check_lake(service, table, request, options, self.tolerance, hadoop=self.job.hadoop)
        announce_spark_start(given=given)
        with (
            spark_session(uris, master=self.job.master, conf=self.job.conf) as spark,
            progress_bar(self._title) as progress,
        ):
            return collector.check(
                spark,
                self.table,
                metastore=uris or session_metastore(spark),
                columns=self.columns,
                partitions=self.partitions,
                where=self.where,
                sample_fraction=self.sample_fraction,
                tolerance=self.tolerance,
                progress=progress,
            )

    @property
    def _title(self) -> str:
        return f"Checking {self.table}"
