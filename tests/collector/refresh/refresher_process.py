"""A process that refreshes a metastore's tables with an analysis of its own, and writes down what it has finished.

Arguments: the metastore's address, a file for a line for each partition, the seconds that a partition takes.
"""

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from hmstats.client import connect
from hmstats.collector.refresh.round import Refresher
from hmstats.collector.report import Report
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

COLUMN = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=9))


def main(address: str, path: str, seconds: float, database: str) -> None:
    """Run rounds until nothing is left."""

    def analyse(name: TableName, partitions: Sequence[str], _: bool) -> Any:
        with connect(address) as service:
            for each in partitions:
                time.sleep(seconds)
                line = f"{name.table} {each} {os.getpid()}\n".encode()
                service.put_partition_statistics(name, [StatisticsSet((COLUMN,), each)])
                # After the statistics: killed between the two, a process has finished its partition all the same.
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                os.write(descriptor, line)
                os.close(descriptor)
        return Report(name, None, len(partitions), len(partitions), {}, {})

    wanted = RefreshRequest(((DatabaseName("hive", database), None),), budget_seconds=None, look_seconds=None)
    refresher = Refresher(address, analyse, wanted, lease_seconds=2)
    while (found := refresher.plan()).plan.taken or found.skipped:
        for _ in refresher.run():
            pass
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])
