"""What is counted of an upstream."""

import contextlib
import socket

from prometheus_client import REGISTRY
from tests.gateway.gateways import (
    TIMES,
    Upstream,
    closing_behind,
    databases,
    gateway,
)
from tests.server.requests import request
from tests.server.serving import Client

from hmstats.client.connection.address import Address as UpstreamAddress
from hmstats.gateway.upstream.relay import UpstreamRelay


def test_metrics_tell_which_addresses_take_connections() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        addresses = [UpstreamAddress(*listening.getsockname()), UpstreamAddress("127.0.0.1", 1)]
        relay = UpstreamRelay(addresses, 1, TIMES)
        relay.tend()
    assert [up(each) for each in addresses] == [1, 0]
    relay.tend()
    assert [up(each) for each in addresses] == [0, 0]


def up(address: UpstreamAddress) -> float | None:
    return REGISTRY.get_sample_value("hmstats_upstream_up", {"address": str(address)})


def test_metrics_count_connections_bytes_and_calls_that_were_sent_again() -> None:
    with Upstream(closing_behind(1)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        labels = {"address": str(UpstreamAddress(*upstream.address))}
        again = REGISTRY.get_sample_value("hmstats_upstream_sent_again_total", labels) or 0
        for _ in range(2):
            client.ask("get_all_databases")
        size = 2 * len(databases(request("get_all_databases"), "answered"))
        assert REGISTRY.get_sample_value("hmstats_upstream_answered_bytes_total", labels) == size
        assert REGISTRY.get_sample_value("hmstats_upstream_connections", labels) == 1
        connects = REGISTRY.get_sample_value("hmstats_upstream_connects_total", {**labels, "outcome": "done"})
        assert connects == 2
        assert REGISTRY.get_sample_value("hmstats_upstream_sent_again_total", labels) == again + 1
        assert (
            REGISTRY.get_sample_value("hmstats_upstream_seconds_count", labels) == 3
        )  # with the one that was sent again
    assert REGISTRY.get_sample_value("hmstats_upstream_connections", labels) == 0
