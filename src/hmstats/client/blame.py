"""Calls about who is to blame for wrong estimates of queries. Only hmstats has them."""

from collections.abc import Callable, Sequence
from typing import Any

from hmstats.model.feedback.records import BlameSum, Seen
from hmstats.wire.idl import extension
from hmstats.wire.statistics import blame as codec

_AT_ONCE = 500


class BlameCalls:
    """What queries have shown to be wrong.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def record(self, seen: Sequence[Seen]) -> int:
        """Record who was to blame in queries. Returns how many entries were not too old to be kept."""
        kept = 0
        for start in range(0, len(seen), _AT_ONCE):
            some = [codec.seen_to_thrift(each) for each in seen[start : start + _AT_ONCE]]
            kept += self._ask("record_blame", extension.BlameRecords(blame=some))
        return kept

    def sums(
        self,
        databases: str | None = None,
        tables: str | None = None,
        *,
        since_ms: int = 0,
        most: int | None = None,
        catalog: str | None = None,
    ) -> list[BlameSum]:
        """Who is to blame for most, of tables that match patterns (None: all), over the queries since a time."""
        request = extension.BlameRequest(
            catName=catalog, dbPatterns=databases, tblPatterns=tables, since=since_ms, most=most
        )
        return [codec.sum_from_thrift(each) for each in self._ask("get_blame", request).sums]
