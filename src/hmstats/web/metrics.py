"""Health and age of tables' statistics in Prometheus' format, of the tables with the worst health.

Beside a server, whose own numbers are at /metrics, they are at /metrics/tables only.
"""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hmstats.web.admission import Admission
from hmstats.web.answers.health import TableHealth
from hmstats.web.reading.lists.health_list import worst_tables

MOST_TABLES = 1_000
"""Tables that are reported, a time series each: a large catalog must not fill a Prometheus."""
_LABELS = ("database", "table")
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def routes(admission: Admission) -> list[Route]:
    """The routes that a Prometheus scrapes, as the user whose token it sends."""

    def answer(request: Request) -> Response:
        with admission.service(request) as service:
            found, more = worst_tables(service, MOST_TABLES)
        registry = CollectorRegistry()
        registry.register(_Health(found, more=more))
        return Response(generate_latest(registry), media_type=_TYPE)

    return [Route(path, answer, methods=["GET"]) for path in ("/metrics", "/metrics/tables")]


class _Health(Collector):
    """Collects metrics of these tables; `more` says that there are tables beyond them."""

    def __init__(self, found: list[TableHealth], *, more: bool) -> None:
        self._found = found
        self._more = more

    def collect(self) -> Iterator[Metric]:
        """The metrics of these tables."""
        health = GaugeMetricFamily("hmstats_table_health", "Health of a table's statistics, 0 to 100.", labels=_LABELS)
        age = GaugeMetricFamily(
            "hmstats_table_statistics_age_seconds", "Seconds since the oldest statistics were made.", labels=_LABELS
        )
        stale = GaugeMetricFamily(
            "hmstats_table_stale_seconds", "Seconds since health was first seen below 100.", labels=_LABELS
        )
        now = time.time()
        for each in self._found:
            labels = (each.database, each.name)
            health.add_metric(labels, each.health)
            if each.analyzed_at is not None:
                age.add_metric(labels, max(now - each.analyzed_at.timestamp(), 0))
            if each.stale_since is not None:
                stale.add_metric(labels, max(now - each.stale_since.timestamp(), 0))
        yield from (health, age, stale)
        yield GaugeMetricFamily(
            "hmstats_tables_left_out", "1 if there are more tables, of better health, than are told.", value=self._more
        )
