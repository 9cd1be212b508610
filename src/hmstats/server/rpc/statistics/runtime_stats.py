"""Hive's calls about what its queries have counted."""

from typing import Any

from hmstats.errors import MetaError
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.runtime_stats import RuntimeStats
from hmstats.wire.idl import hive_metastore


class RuntimeStatCalls:
    """Runtime statistics."""

    def __init__(self, stats: RuntimeStats) -> None:
        self._stats = stats

    def add_runtime_stats(self, session: Session, stat: Any) -> None:
        """Keep what a query of Hive has counted."""
        if stat.weight is None or stat.payload is None:
            raise MetaError("runtime statistics must have a weight and a payload, found none")
        payload = stat.payload if isinstance(stat.payload, bytes) else stat.payload.encode()
        self._stats.add(stat.weight, payload)

    def get_runtime_stats(self, session: Session, rqst: Any) -> list[Any]:
        """What queries of Hive have counted, newest first, up to a weight and a time."""
        if rqst.maxWeight is None or rqst.maxCreateTime is None:
            raise MetaError("a request for runtime statistics must have maxWeight and maxCreateTime, found none")
        return [
            hive_metastore.RuntimeStat(createTime=each.created_seconds, weight=each.weight, payload=each.payload)
            for each in self._stats.newest(rqst.maxWeight, rqst.maxCreateTime)
        ]
