"""Brings findings to the metastore in batches, from whatever process they are made in.

A metastore that is away or slow is waited for; then what was computed goes to a spool folder, from which
`hmstats push` sends it. Doing it twice, as a task that is tried again does, changes nothing twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import time
from uuid import uuid4

from hmstats.client import Metastore, connect
from hmstats.client.metastore import TIMEOUT_SECONDS
from hmstats.client.parcel import Parcel, packed
from hmstats.client.push import put
from hmstats.client.spool import Spool, file_name
from hmstats.collector.pieces import WHOLE_TABLE
from hmstats.collector.publish import item
from hmstats.collector.report import Finding
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog import TableName

PATIENCE_SECONDS = 300.0
_away: set[str] = set()
"""Runs for which this process has given the metastore up: nothing more of them waits for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the findings of one run go; every task has it.

    `metastore` has its addresses, as connect() takes them; `timeout_seconds` is how long one answer of it may take,
    `patience_seconds` how long it is waited for in all. Then `spool` takes what it would have got; without one the
    analysis fails. `run` names the run, and begins with the time at which it began.
    """

    table: TableName
    keys: tuple[str, ...]
    metastore: str
    run: str
    spool: str | None
    patience_seconds: float = PATIENCE_SECONDS
    timeout_seconds: float = TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many findings went to the spool folder, and what the metastore refused: partition to what it said."""

    spooled: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)


def new_run() -> str:
    """A name for a run that no other has, and that stands behind those of earlier runs."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}"


def deliver(to: Delivery, findings: Iterable[tuple[str, Finding]], sample_fraction: float = 1.0) -> Delivered:
    """Bring findings of partitions, by name, or the one of the table itself (WHOLE_TABLE), where they are to go.

    They may be made one by one, as they are taken. Raises ServiceUnavailable where there is no spool folder, and
    SpoolError.
    """
    spooled = 0
    refused: dict[str, str] = {}
    items = (item(finding, None if name == WHOLE_TABLE else name, sample_fraction) for name, finding in findings)
    with connect(to.metastore, timeout_seconds=to.timeout_seconds, patience_seconds=to.patience_seconds) as service:
        for batch in packed(items):
            parcel = Parcel(to.table, to.keys, batch, int(time()))
            answer = _sent(service, to, parcel)
            if answer is None:
                spooled += len(batch)
            else:
                refused |= answer
    return Delivered(spooled, refused)


def _sent(service: Metastore, to: Delivery, parcel: Parcel) -> dict[str, str] | None:
    """What the metastore refused; None when the parcel went to the spool folder."""
    if to.run not in _away:
        try:
            return put(service, parcel)
        except ServiceUnavailable as error:
            if to.spool is None:
                raise ServiceUnavailable(f"{error}; there is no spool folder to keep statistics in") from error
            _away.add(to.run)
    Spool(to.spool or "").put(file_name(to.run, parcel), parcel)
    return None
