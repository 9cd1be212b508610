"""Merging writes: selects the columns that a Hive would merge into stored statistics.

Since Hive 3 a column is merged only if its table or partition marks the column as accurate. Otherwise the column is
left as it was, even if nothing is stored: of a table that was filled without statistics, only the new rows are known.
The upstream is sent the merged statistics in a plain write, after which it marks the columns. So a column that Hive
would not merge must not be merged here either: queries would be answered from it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.calling import with_arguments
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.service.mirrors.mirrored_tables import MirroredTables
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import Head, encode_reply

_MERGING = frozenset({"set_aggr_stats_for", "set_statistics"})
_FIRST = 3
"""The first release of Hive that respects the marks."""


def merges(name: str, arguments: Mapping[str, Any], release: int) -> bool:
    """Whether a call asks to merge statistics, at an upstream of a release that merges by marks."""
    return name in _MERGING and release >= _FIRST and bool(arguments["request"].needMerge)


def without_unmarked(
    request: Request, arguments: Mapping[str, Any], scope: StatisticsScope, tables: MirroredTables
) -> Request | None:
    """The call without columns that must not be merged; None if no column is left.

    `tables` must be as current as the upstream's.
    """
    asked = arguments["request"]
    mirror = tables.find(scope.table)
    keys = [] if mirror is None else [each.name for each in mirror.partition_keys]
    names = [normal_partition_name(each, keys) for each in scope.partitions or ()]
    marks = tables.parameters(scope.table, names) if names else {}
    marks |= tables.parameters(scope.table, None) if scope.own else {}

    def keep(struct: Any) -> list[Any]:
        place = "" if struct.statsDesc.isTblLevel else normal_partition_name(struct.statsDesc.partName, keys)
        if place not in marks:  # an object that does not exist is refused with the rest of the call
            return list(struct.statsObj)
        marked = Accurate.parse(marks[place].get(PARAMETER)).columns
        return [each for each in struct.statsObj if each.colName.lower() in marked]

    if not _cut(asked.colStats, keep):
        return request
    asked.colStats = [each for each in asked.colStats if each.statsObj]
    if not asked.colStats and getattr(asked, "parameters", None) is None:
        return None
    if getattr(asked, "details", None):
        asked.details = _of_columns(asked.details, asked.colStats)
    return with_arguments(request, request=asked)


def nothing_merged(head: Head) -> bytes:
    """The answer to a call of which no column is merged: success, as Hive answers."""
    return encode_reply(head, encode_struct(methods()[head.name].result(success=True)))


def _cut(structs: Iterable[Any], keep: Callable[[Any], list[Any]]) -> bool:
    """Keep only the columns that `keep` returns for each struct. Returns whether any were removed."""
    is_cut = False
    for struct in structs:
        left = keep(struct)
        is_cut |= len(left) < len(struct.statsObj)
        struct.statsObj = left
    return is_cut


def _of_columns(details: Sequence[Any], structs: Sequence[Any]) -> list[Any]:
    """The details of those columns that the structs contain."""
    there = {
        (None if struct.statsDesc.isTblLevel else struct.statsDesc.partName, each.colName.lower())
        for struct in structs
        for each in struct.statsObj
    }
    return [each for each in details if (each.partName, each.colName.lower()) in there]
