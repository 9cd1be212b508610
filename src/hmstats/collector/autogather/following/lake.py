"""Stores the statistics of finished commits to a table that keeps its own log, from the rows that they added."""

from pyspark.sql import SparkSession

from hmstats.client import Metastore
from hmstats.collector.autogather.following.gather import Destination
from hmstats.collector.autogather.writer import Written
from hmstats.collector.delivery.deliver import Delivery, new_run
from hmstats.collector.lake.analysis import analyze_lake
from hmstats.collector.lake.formats import is_lake_table
from hmstats.collector.options import AS_PREFERRED
from hmstats.collector.planning.preferred import apply_preferences
from hmstats.collector.request.statement import statement
from hmstats.collector.spark.cached_tables import forget_table
from hmstats.collector.spark.session_settings import hadoop_settings
from hmstats.model.catalog.objects import TableName


def gather_commits(
    spark: SparkSession, to: Destination, service: Metastore, name: TableName, commits: int
) -> Written | None:
    """Store the statistics after the table's newest commits, `commits` of which are the session's.

    None if the metastore has no such table, or if its statistics are of the newest version already. Raises as
    analyze_lake does, including StatementError if the commits did not only add rows.
    """
    table = service.find_table(name)
    if table is None or not is_lake_table(table):
        return None
    wanted = apply_preferences(service, statement(str(name)), AS_PREFERRED, row_counts=False)
    delivery = Delivery(name, (), to.metastore, new_run(), to.spool, to.patience_seconds, automatic=True)
    try:
        report = analyze_lake(
            service,
            table,
            wanted.request,
            wanted.options,
            delivery,
            changed_only=True,
            row_counts=wanted.row_counts,
            own_commits=commits,
            spark=spark,
            hadoop=hadoop_settings(spark),
        )
    finally:
        forget_table(spark, name)
    if report.left is not None:
        return Written(name, gathered=False, reason=report.left)
    return None if report.unchanged else Written(name, gathered=True, spooled=report.spooled)
