"""What is counted of an upstream."""

from prometheus_client import REGISTRY
from tests.gateway.gateways import (
    TIMES,
    Upstream,
    answer_all,
    closing_behind,
    databases,
    gateway,
)
from tests.server.requests import request
from tests.server.serving import Client

from hmstats.client.connection.address import Address as UpstreamAddress
from hmstats.gateway.upstream.relay import UpstreamRelay


def test_metrics_tell_which_addresses_answer() -> None:
    with Upstream(answer_all) as upstream:
        addresses = [UpstreamAddress(*upstream.address), UpstreamAddress("127.0.0.1", 1)]
        relay = UpstreamRelay(addresses, 1, TIMES)
        relay.probe()
        assert [up(each) for each in addresses] == [1, 0]
    relay.probe()
    assert [up(each) for each in addresses] == [0, 0]


def test_an_address_that_closes_connections_is_not_up_and_is_tried_still() -> None:
    with Upstream(closing_behind(0)) as upstream:
        address = UpstreamAddress(*upstream.address)
        relay = UpstreamRelay([address], 1, TIMES)
        relay.probe()
        assert up(address) == 0
        assert not relay.is_hanging


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
