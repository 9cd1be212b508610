"""Checks a table by its format's own metadata: its newest version is read, without Spark if possible."""

from typing import Any

from hmstats.client import Metastore
from hmstats.client.tables.stored_statistics import own_statistics
from hmstats.collector.checking.judge import judge_columns, judge_files, judge_registered
from hmstats.collector.checking.report import CheckReport, Tally
from hmstats.collector.checking.seen import Seen
from hmstats.collector.lake.opened import Hadoop, no_settings
from hmstats.collector.lake.plan import LakePlan, plan_lake
from hmstats.collector.lake.reading import Rows, read_all, read_by_spark
from hmstats.collector.options import Options
from hmstats.collector.request.statement import Statement
from hmstats.model.catalog.objects import Table


def check_lake(
    metastore: Metastore,
    table: Table,
    request: Statement,
    options: Options,
    tolerance: float,
    *,
    spark: Any = None,
    hadoop: Hadoop = no_settings,
) -> CheckReport:
    """Compare the stored statistics of a table with the rows of its newest version, or with a sample of them.

    Distinct counts that engines have registered for that version in the table's own metadata are compared too. `hadoop`
    returns a setting of Hadoop by its name.

    Raises StatementError for partitions and missing columns, and without a session for a table that only Spark reads;
    SettingsError if the reader of the format is not installed; UnreadableFile.
    """
    plan = plan_lake(metastore, table, request, options, changed_only=False, past_locks=True, hadoop=hadoop)
    seen = Seen(_read(metastore, plan, options, spark).total, None)
    stored = own_statistics(metastore, plan.table)
    tally = Tally(
        targets=1,
        without_statistics=0 if stored.statistics.columns else 1,
        rows=seen.state.rows,
        rows_read=seen.rows_read,
    )
    tally = tally.merge(judge_columns(stored.table_statistics(), seen, tolerance))
    tally = tally.merge(judge_registered(plan.opened.registered, seen, tolerance))
    if plan.opened.rows is not None:  # with deletes, engines differ in which files they count
        sizes = [file.bytes for file in plan.opened.files]
        tally = tally.merge(judge_files(None, stored.parameters, sizes, tolerance))
    return CheckReport(plan.table.name, tally, plan.skipped)


def _read(metastore: Metastore, plan: LakePlan, options: Options, spark: Any) -> Rows:
    if plan.opened.only_by_spark is not None:
        return read_by_spark(spark, metastore.address, plan, options)
    return read_all(plan, options)
