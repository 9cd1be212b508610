"""Asks which delivered numbers are not in force yet: they wait until somebody publishes them."""

from collections.abc import Iterable

from hmstats.client import Metastore
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.errors import ServiceError
from hmstats.model.catalog.objects import TableName


def waiting_reasons(service: Metastore, table: TableName, delivered: Iterable[str]) -> dict[str, str]:
    """Of the delivered pieces those whose numbers wait, by name, and why; none where the metastore does not tell."""
    try:
        listed = service.pending.listed(table.database, table.table, table.catalog)
    except ServiceError:  # statistics wait in hmstats alone, and all of them are delivered by now
        return {}
    held = {each.partition or WHOLE_TABLE: each.reason.text for each in listed if each.table == table}
    return {name: held[name] for name in delivered if name in held}
