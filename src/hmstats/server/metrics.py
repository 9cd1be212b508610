"""What Prometheus is told about calls and connections."""

from collections import Counter

from prometheus_client import Gauge, Histogram

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
CONNECTIONS = Gauge("hmstats_connections", "Connections that are open.")


def answered_calls() -> dict[str, int]:
    """How many calls were answered since the server started, by method."""
    counts: Counter[str] = Counter()
    for sample in (sample for metric in RPC_SECONDS.collect() for sample in metric.samples):
        if sample.name.endswith("_count"):
            counts[sample.labels["method"]] += int(sample.value)
    return dict(counts)
