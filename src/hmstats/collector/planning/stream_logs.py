"""Plans tables that a Spark stream writes to: a log in their folder names the files that Spark reads.

An interrupted batch leaves files that the log does not name. Spark finds the partitions in the log too, and does not
create them in the metastore.
"""

from dataclasses import replace

from pyarrow import fs

from hmstats.collector.planning.plan import Plan, no_partitions
from hmstats.files.file_systems import open_location

_LOG = "_spark_metadata"


def read_by_log(plan: Plan) -> Plan:
    """The plan for Spark to read all rows of a table with such a log; any other plan stays as it is.

    Raises StatementError if the table is partitioned and the metastore has no partition.
    """
    if not _has_log(plan):
        return plan
    if plan.keys and not plan.pieces:
        raise no_partitions(plan.table)
    return replace(plan, pieces=tuple(replace(each, parquet=False, orc=False) for each in plan.pieces))


def _has_log(plan: Plan) -> bool:
    if not plan.spark_location:
        return False
    try:
        files, path = open_location(plan.spark_location, plan.settings)
        found = files.get_file_info(f"{path}/{_LOG}")
    except OSError:
        return False  # listing the files will report the reason
    return bool(found.type is fs.FileType.Directory)
