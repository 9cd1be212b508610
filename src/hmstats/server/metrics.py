"""What Prometheus is told about calls and connections."""

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
