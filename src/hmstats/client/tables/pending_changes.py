"""A table's pending statistics beside those in force, so that both can be compared before a publication."""

import time

from hmstats.client.metastore import Metastore
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.pending.pending import PendingOfTable
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.history import PastStatistics


def before_and_after(service: Metastore, name: TableName) -> tuple[PastStatistics, PastStatistics]:
    """The statistics in force where pending ones wait, and those that would be in force after a publication.

    Raises NoSuchObject when the table is not there.
    """
    waiting = service.pending.of_table(name)
    before = _in_force(service, name, waiting)
    return before, _merge_pending(before, waiting)


def _in_force(service: Metastore, name: TableName, waiting: PendingOfTable) -> PastStatistics:
    names = sorted(each for each in waiting.changes if each is not None)
    sets = list(service.statistics(name)) if None in waiting.changes else []
    sets += service.statistics(name, None, names) if names else []
    table = service.existing_table(name)
    keys = [each.name for each in table.partition_keys]
    values: dict[str, Parameters] = {"": table.parameters} if None in waiting.changes else {}
    for each in service.partitions(name, names) if names else ():
        values[partition_name(keys, each.values)] = each.parameters
    return PastStatistics(int(time.time() * 1000), sets, values)


def _merge_pending(before: PastStatistics, waiting: PendingOfTable) -> PastStatistics:
    columns = {(each.partition, each.engine): {one.column: one for one in each.columns} for each in before.sets}
    for each in waiting.sets:
        columns.setdefault((each.partition, each.engine), {}).update({one.column: one for one in each.columns})
    sets = [StatisticsSet(tuple(found.values()), *place) for place, found in columns.items()]
    values = dict(before.parameters)
    for partition, change in waiting.changes.items():
        values[partition or ""] = change.of(values.get(partition or "", {}))
    return PastStatistics(before.at_ms, sets, values)
