"""Calls about who is to blame for wrong estimates of queries (thrift/hmstats.thrift)."""

from math import isfinite
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.model.feedback.records import Seen
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.health.blame import BlameRecords
from hmstats.wire.idl import extension
from hmstats.wire.statistics import blame as codec

_MOST_CHARACTERS = 64


class BlameCalls:
    """The records of statistics that made estimates of queries wrong."""

    def __init__(self, records: BlameRecords) -> None:
        self._records = records

    def record_blame(self, session: Session, request: Any) -> int:
        """Record which tables and columns were to blame for wrong estimates; how many were not too old."""
        return self._records.record([_entry_of(each) for each in request.blame or ()])

    def get_blame(self, session: Session, request: Any) -> Any:
        """The tables and columns that are to blame for most, over the queries since a time."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        patterns = (catalog, request.dbPatterns, request.tblPatterns)
        found = self._records.sums(*patterns, request.since or 0, request.most)
        return extension.BlameResult(sums=[codec.sum_to_thrift(each) for each in found])


def _entry_of(struct: Any) -> Seen:
    """An entry of a call. Raises MetaError or InvalidInput for what no entry can be."""
    if struct is None:
        raise InvalidInput("an entry of blame must name a table, found none")
    subject.table(struct.dbName, struct.tblName, struct.catName)
    texts = (struct.engine, struct.shape, struct.usedFor, struct.verdict)
    if not all(isinstance(each, str) and len(each) <= _MOST_CHARACTERS for each in texts):
        raise InvalidInput(f"engine, shape, use and verdict must be texts of at most {_MOST_CHARACTERS} characters")
    if struct.colName is not None and not isinstance(struct.colName, str):
        raise InvalidInput("the column of an entry of blame must be a text, found another")
    numbers = (struct.factor, struct.weight, struct.estimated or 0.0, struct.numRows, struct.seenAt)
    if not all(each is not None and isfinite(each) and each >= 0 for each in numbers):
        raise InvalidInput(f"numbers of an entry of blame must be finite and not negative, found {numbers}")
    try:
        return codec.seen_from_thrift(struct)
    except ValueError as error:
        raise InvalidInput(f"an entry of blame must have a known use and verdict: {error}") from error
