"""Prometheus metrics of calls and connections.

Worker processes keep their numbers in files of the folder that PROMETHEUS_MULTIPROC_DIR names, which is set before they
start; a reader adds them up.
"""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from prometheus_client import Counter as EventCounter
from prometheus_client import Gauge, Histogram, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from hmstats.server.monitoring.metrics_folder import FOLDER_VARIABLE

_CALLS = "hmstats_rpc_seconds_count"

_REPORTED_TOGETHER = 64

_BUCKETS_SECONDS = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    300.0,
)

RPC_SECONDS = Histogram(
    "hmstats_rpc_seconds",
    "Seconds from a whole request to its encoded reply, by method and outcome.",
    ("method", "outcome"),
    buckets=_BUCKETS_SECONDS,
)
CACHED = "cached"
"""The outcome label of a call that was answered from the cache."""
UNTAKEN_REPLIES = EventCounter(
    "hmstats_untaken_replies",
    "Connections that were ended since their client did not take a reply, by reason: slow, or unsent bytes.",
    ("reason",),
)
CONNECTIONS = Gauge("hmstats_connections", "Connections that are open.", multiprocess_mode="livesum")
FAILED_CONNECTIONS = EventCounter(
    "hmstats_failed_connections", "Connections that an unexpected error of the server ended."
)
CERTIFICATE_EXPIRES = Gauge(
    "hmstats_certificate_expires_timestamp_seconds",
    "When the certificate that TLS connections get expires, in Unix time; 0 without TLS.",
    multiprocess_mode="livemin",
)
HANDSHAKES = EventCounter("hmstats_handshakes", "TLS handshakes that ended, by outcome: done or failed.", ("outcome",))
AUTHENTICATIONS = EventCounter(
    "hmstats_authentications",
    "Proofs of users that were checked, by outcome: done or failed; a proof that is still believed is not checked.",
    ("outcome",),
)
DATABASE_UP = Gauge(
    "hmstats_database_up",
    "Whether the database answered when it was asked last, 1 or 0; only with the setting ready_needs_database.",
    ("database",),
    multiprocess_mode="livemin",
)
AUDIT_LOST = EventCounter(
    "hmstats_audit_records_lost",
    "Audit records that did not come into the database: too many waited for it, or it refused them.",
)


class CachedSeconds:
    """The durations of cached answers, reported in batches: each bucket and sum is written once for all of a batch.

    Reporting a single one would take a tenth of the answer's processor time, since every number is written to a file.
    """

    def __init__(self) -> None:
        self._durations: list[tuple[str, float]] = []

    def add(self, method: str, seconds: float) -> None:
        """Record one answer's duration."""
        self._durations.append((method, seconds))
        if len(self._durations) >= _REPORTED_TOGETHER:
            self.report()

    def report(self) -> None:
        """Report the recorded durations."""
        counts: Counter[tuple[str, int]] = Counter()
        sums: dict[str, float] = {}
        for method, seconds in self._durations:
            counts[method, bisect_left(_BUCKETS_SECONDS, seconds)] += 1
            sums[method] = sums.get(method, 0.0) + seconds
        self._durations.clear()
        for method, total in sums.items():
            _cached_seconds(method)._sum.inc(total)  # noqa: SLF001 - the library observes one by one only
        for (method, bucket), times in counts.items():
            _cached_seconds(method)._buckets[bucket].inc(times)  # noqa: SLF001


@cache
def _cached_seconds(method: str) -> Histogram:
    return RPC_SECONDS.labels(method, CACHED)


class AllWorkers(MultiProcessCollector):
    """The numbers of all workers whose files are in a folder, added up; of those files that match a pattern."""

    def __init__(self, folder: str, files: str = "*.db") -> None:
        super().__init__(None, folder)  # type: ignore[no-untyped-call]
        self._folder = Path(folder)
        self._files = files

    def collect(self) -> Iterable[Metric]:
        """The metrics of all files, without empty ones, for which the library would raise.

        A file is empty just after it was created, and stays so if its worker was killed then.
        """
        filled = [str(each) for each in self._folder.glob(self._files) if _size(each)]
        found: Iterable[Metric] = self.merge(filled, accumulate=True)  # type: ignore[no-untyped-call]
        return found


def is_database_up(folder: str) -> bool:
    """Whether no worker says that its database does not answer; workers say so in the gauge hmstats_database_up."""
    return all(read_smallest(folder, DATABASE_UP._name).values())  # noqa: SLF001


def read_smallest(folder: str, gauge: str) -> dict[str, float]:
    """The smallest value that a worker has of a gauge of the kind `livemin`, by the value of its one label."""
    collector = AllWorkers(folder, "gauge_livemin_*.db")
    samples = (sample for metric in collector.collect() if metric.name == gauge for sample in metric.samples)
    return {next(iter(sample.labels.values())): sample.value for sample in samples}


def _size(file: Path) -> int:
    """A file's size in bytes, 0 if it is gone: a gauge's file is removed with its worker."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def answered_calls() -> dict[str, int]:
    """How many calls all processes have answered since the server started, by method."""
    counts: Counter[str] = Counter()
    for sample in (sample for metric in _collect() for sample in metric.samples):
        if sample.name == _CALLS:
            counts[sample.labels["method"]] += int(sample.value)
    return dict(counts)


def _collect() -> Iterable[Metric]:
    folder = os.environ.get(FOLDER_VARIABLE)
    return RPC_SECONDS.collect() if folder is None else AllWorkers(folder).collect()
