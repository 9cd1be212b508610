"""Structs of health of statistics <-> model."""

from typing import Any

from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import Health, Reason, Size
from hmstats.model.health.pages import HealthPage, ObjectHealth
from hmstats.wire.idl import extension


def page_to_thrift(page: HealthPage) -> Any:
    """The struct of a page."""
    health = [_to_thrift(each) for each in page.entries]
    return extension.HealthResult(health=health, nextPage=page.next_page, complete=page.complete)


def page_from_thrift(struct: Any) -> HealthPage:
    """The page in a struct."""
    return HealthPage(tuple(_from_thrift(each) for each in struct.health), struct.nextPage, struct.complete)


def _to_thrift(of: ObjectHealth) -> Any:
    found = of.health
    return extension.StatisticsHealth(
        dbName=of.table.database,
        tblName=of.table.table,
        catName=of.table.catalog,
        partName=of.partition,
        health=found.health,
        reason=found.reason.value,
        numRows=found.now.rows,
        numFiles=found.now.files,
        totalSize=found.now.size_bytes,
        rowsThen=found.then.rows,
        filesThen=found.then.files,
        sizeThen=found.then.size_bytes,
        movedRows=found.moved_rows,
        marked=found.marked,
        numColumns=found.columns,
        analyzedColumns=found.analyzed,
        analyzedAt=found.analyzed_at_seconds,
        staleSince=found.stale_since_ms,
        numPartitions=found.partitions,
        stalePartitions=found.stale_partitions,
    )


def _from_thrift(struct: Any) -> ObjectHealth:
    found = Health(
        struct.health,
        Reason(struct.reason),
        now=Size(struct.numRows, struct.numFiles, struct.totalSize),
        then=Size(struct.rowsThen, struct.filesThen, struct.sizeThen),
        moved_rows=struct.movedRows,
        marked=struct.marked,
        columns=struct.numColumns,
        analyzed=struct.analyzedColumns,
        analyzed_at_seconds=struct.analyzedAt,
        stale_since_ms=struct.staleSince,
        partitions=struct.numPartitions,
        stale_partitions=struct.stalePartitions,
    )
    return ObjectHealth(TableName(struct.catName, struct.dbName, struct.tblName), struct.partName, found)
