"""Sets parameters that come with a write of statistics, such as the number of rows, at the upstream.

The write was carried out here before. A parameter that became pending here, or was dropped because of a lock, is
missing in the table's mirror, and is not sent to the upstream either.
"""

from collections.abc import Mapping

from hmstats.client.metastore import Metastore
from hmstats.errors import CallRefused, MetaError
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.service.mirrors.mirrored_tables import MirroredTables
from hmstats.service.statistics.writing.holding import waits

Changes = Mapping[str | None, ParameterChange]
"""Changes by partition name; None is the table itself."""


def put_parameters(calls: UpstreamCalls, tables: MirroredTables, name: TableName, changes: Changes) -> None:
    """Changes by partition name; None stands for the table itself."""
    upstream = Metastore(_AsConnection(calls))  # type: ignore[arg-type]
    try:
        keys = [each.name for each in upstream.existing_table(name).partition_keys]
        put = _changes_in_force(tables, name, keys, changes)
        own = put.pop(None, None)
        if own:
            upstream.put_table_parameters(name, own)
        if put:
            upstream.put_partition_parameters(name, keys, {place: each for place, each in put.items() if place})
    except CallRefused as error:
        raise MetaError(
            f"statistics of table {name} are stored here, but the upstream refuses the parameters that came with them: "
            f"{error}"
        ) from error


def _changes_in_force(
    tables: MirroredTables, name: TableName, keys: list[str], changes: Changes
) -> dict[str | None, dict[str, str | None]]:
    """The parameters to set by partition, with None for those to remove; partitions without changes are left out."""
    normal = {place: normal_partition_name(place, keys) for place in changes if place is not None}
    stored = tables.parameters(name, sorted(normal.values())) if normal else {}
    own = tables.parameters(name, None).get("", {}) if None in changes else {}
    found = {
        place: _part_in_force(change, own if place is None else stored.get(normal[place], {}))
        for place, change in changes.items()
    }
    return {place: each for place, each in found.items() if each}


def _part_in_force(change: ParameterChange, stored: Parameters) -> dict[str, str | None]:
    removed: dict[str, str | None] = {key: None for key in change.remove if not waits(key) or key not in stored}
    put = {key: value for key, value in change.put.items() if not waits(key) or stored.get(key) == value}
    return {**removed, **put}


class _AsConnection:
    """The upstream, with the methods by which the client package asks a metastore."""

    address = "the upstream"

    def __init__(self, calls: UpstreamCalls) -> None:
        self.call = calls.call
