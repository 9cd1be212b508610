"""Delivers findings to the metastore in batches, from the driver or from a task.

If the metastore does not answer, calls are retried; then the findings go to a spool folder, from which `hmstats push`
sends them. Delivery is idempotent, since tasks may be retried.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import time
from uuid import uuid4

from hmstats.client import Metastore, connect
from hmstats.client.connection.credentials import NOTHING, HandedOver, credentials
from hmstats.client.metastore import TIMEOUT_SECONDS
from hmstats.client.sending.parcel import Parcel, pack_items
from hmstats.client.sending.push import put
from hmstats.client.sending.spool import Spool, file_name
from hmstats.collector.delivery.items import item
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.report import Finding
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog.objects import TableName

PATIENCE_SECONDS = 300.0
_away: set[str] = set()
"""Runs for which this process has stopped calling the metastore, since it did not answer in time."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The destination of one run's findings, which every task needs.

    `metastore` is addresses, as connect() takes them; `timeout_seconds` limits one answer, `patience_seconds` all
    retries of a call. After that the findings go to the folder `spool`; without one the analysis fails. `run` is the
    name of the run, and begins with its start time. With `past_locks`, locked statistics are written too. The guard
    checks the statistics of an `automatic` run.
    """

    table: TableName
    keys: tuple[str, ...]
    metastore: str
    run: str
    spool: str | None
    patience_seconds: float = PATIENCE_SECONDS
    timeout_seconds: float = TIMEOUT_SECONDS
    past_locks: bool = False
    handed: HandedOver = NOTHING
    """The credentials by which tasks prove the user; the driver has its own."""
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The number of findings in the spool folder, and the refused ones: the metastore's message by partition."""

    spooled: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)


def new_run() -> str:
    """A unique name for a run, which sorts after those of earlier runs."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}"


def deliver(
    delivery: Delivery, findings: Iterable[tuple[str, Finding]], sample_fraction: float = 1.0
) -> DeliveryResult:
    """Deliver findings about partitions, by name, or about the table itself (WHOLE_TABLE).

    The findings are consumed lazily. Raises ServiceUnavailable if there is no spool folder, and SpoolError.
    """
    spooled = 0
    refused: dict[str, str] = {}
    items = (item(finding, None if name == WHOLE_TABLE else name, sample_fraction) for name, finding in findings)
    with connect(
        delivery.metastore,
        timeout_seconds=delivery.timeout_seconds,
        patience_seconds=delivery.patience_seconds,
        past_locks=delivery.past_locks,
        credentials=credentials(delivery.handed),
        automatic=delivery.automatic,
    ) as service:
        for batch in pack_items(items):
            parcel = Parcel(delivery.table, delivery.keys, batch, int(time()))
            answer = _send(service, delivery, parcel)
            if answer is None:
                spooled += len(batch)
            else:
                refused |= answer
    return DeliveryResult(spooled, refused)


def _send(service: Metastore, delivery: Delivery, parcel: Parcel) -> dict[str, str] | None:
    """Send a parcel; returns the refused items, None if the parcel went to the spool folder."""
    if delivery.run not in _away:
        try:
            return put(service, parcel)
        except ServiceUnavailable as error:
            if delivery.spool is None:
                raise ServiceUnavailable(f"{error}; there is no spool folder to keep statistics in") from error
            _away.add(delivery.run)
    Spool(delivery.spool or "").put(file_name(delivery.run, parcel), parcel)
    return None
