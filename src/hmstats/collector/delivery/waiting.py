"""Finds delivered numbers that are not in force yet, since they wait to be published."""

from collections.abc import Iterable

from hmstats.client import Metastore
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.errors import ServiceError
from hmstats.model.catalog.objects import TableName


def waiting_reasons(service: Metastore, table: TableName, delivered: Iterable[str]) -> dict[str, str]:
    """The delivered pieces whose numbers are pending, by name, with the reason; empty if the metastore cannot tell."""
    try:
        listed = service.pending.listed(table.database, table.table, table.catalog)
    except ServiceError:  # only hmstats has pending statistics, and everything is delivered by now
        return {}
    held = {each.partition or WHOLE_TABLE: each.reason.text for each in listed if each.table == table}
    return {name: held[name] for name in delivered if name in held}
