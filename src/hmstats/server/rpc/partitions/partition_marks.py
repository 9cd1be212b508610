"""Calls about marked partitions."""

from collections.abc import Mapping

from hmstats.errors import MetaError
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.partitions.partition_marks import PartitionMarks


class PartitionMarkCalls:
    """Partitions marked for an event, and asked for their marks."""

    def __init__(self, marks: PartitionMarks) -> None:
        self._marks = marks

    def markPartitionForEvent(  # noqa: N802
        self,
        session: Session,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: Mapping[str, str] | None,
        eventType: int | None,
    ) -> None:
        """Mark a partition for an event, such as that its data is complete; the partition need not exist."""
        self._marks.mark(subject.table(db_name, tbl_name), part_vals or {}, _required_type(eventType))

    def isPartitionMarkedForEvent(  # noqa: N802
        self,
        session: Session,
        db_name: str | None,
        tbl_name: str | None,
        part_vals: Mapping[str, str] | None,
        eventType: int | None,
    ) -> bool:
        """Whether a partition is marked."""
        return self._marks.is_marked(subject.table(db_name, tbl_name), part_vals or {}, _required_type(eventType))


def _required_type(event: int | None) -> int:
    if event is None:
        raise MetaError("an event must have a type, found none")
    return event
