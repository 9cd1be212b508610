"""Structs of pending statistics <-> model."""

from typing import Any

from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.pending.pending import HeldBy, HoldReason, PendingListed, PendingOfTable
from hmstats.wire.idl import extension
from hmstats.wire.statistics.extension import sets_with_details_from_thrift, sets_with_details_to_thrift


def listed_to_thrift(owner: PendingListed) -> Any:
    """The struct of a line of the list."""
    return extension.PendingOwner(
        dbName=owner.table.database,
        tblName=owner.table.table,
        partName=owner.partition,
        heldBy=owner.reason.held_by.value,
        reason=owner.reason.text,
        colNames=list(owner.columns),
        writer=owner.writer,
        heldAt=owner.held_at_seconds,
    )


def listed_from_thrift(struct: Any, catalog: str) -> PendingListed:
    """The line of the list in a struct."""
    return PendingListed(
        table_name(struct.dbName, struct.tblName, catalog),
        struct.partName,
        HoldReason(HeldBy(struct.heldBy), struct.reason),
        tuple(struct.colNames),
        struct.writer,
        struct.heldAt,
    )


def of_table_to_thrift(name: TableName, found: PendingOfTable) -> Any:
    """The struct of all pending statistics of a table."""
    structs, details = sets_with_details_to_thrift(name, found.sets, stamp=True)
    changes = [
        extension.ParameterChange(partName=partition, put=dict(each.put), remove=sorted(each.remove))
        for partition, each in found.changes.items()
    ]
    return extension.PendingStatisticsResult(
        colStats=structs, details=details, changes=changes, tableVersion=found.version
    )


def of_table_from_thrift(struct: Any) -> PendingOfTable:
    """All pending statistics of a table, from a struct."""
    sets = [each for _, each in sets_with_details_from_thrift(struct.colStats, struct.details, None)]
    changes = {
        each.partName: ParameterChange(dict(each.put or {}), frozenset(each.remove or ())) for each in struct.changes
    }
    return PendingOfTable(sets, changes, struct.tableVersion)
