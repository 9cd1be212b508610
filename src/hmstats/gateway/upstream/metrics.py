"""Prometheus metrics of a gateway, by the upstream's address, or by its name in the settings.

Calls for which clients wait are counted like all calls.
"""

from prometheus_client import Counter, Gauge, Histogram

UP = Gauge(
    "hmstats_upstream_up",
    "Whether an address of the upstream took a connection and answered when it was last tried: 1 or 0.",
    ("address",),
    multiprocess_mode="livemin",
)
CONNECTIONS = Gauge(
    "hmstats_upstream_connections",
    "Connections to the upstream that are open, those that wait for a call included.",
    ("address",),
    multiprocess_mode="livesum",
)
CONNECTS = Counter(
    "hmstats_upstream_connects", "Connections to the upstream, by outcome: done or failed.", ("address", "outcome")
)
ANSWERED_BYTES = Counter("hmstats_upstream_answered_bytes", "Bytes of the upstream's answers.", ("address",))
SECONDS = Histogram(
    "hmstats_upstream_seconds",
    "Seconds from a request to the end of the upstream's answer, the gateway's own calls included.",
    ("address",),
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
)
SENT_AGAIN = Counter(
    "hmstats_upstream_sent_again",
    "Reads that were sent again since a waiting connection had been closed.",
    ("address",),
)
UNSENT = Gauge(
    "hmstats_upstream_unsent_tables",
    "Tables with statistics that the upstream has not got yet.",
    ("upstream",),
    multiprocess_mode="mostrecent",
)
SENT = Counter("hmstats_upstream_sent_columns", "Columns' statistics that were sent to the upstream.", ("upstream",))
PROVEN = Counter(
    "hmstats_upstream_proven",
    "Questions for statistics that were answered without a comparison, since the upstream's log proves it.",
    ("upstream",),
)
JOINED = Counter(
    "hmstats_upstream_joined_reads",
    "Reads that got the answer to an equal one which waited at the same moment.",
    ("upstream",),
)
KEPT_ANSWERS = Counter(
    "hmstats_upstream_kept_answers",
    "Calls about tables that were answered by what the upstream had answered before.",
    ("upstream",),
)
