"""The seconds of calls that are answered from the cache are reported together."""

import pytest

from hmstats.server.monitoring.metrics import RPC_SECONDS, CachedSeconds

COUNT, SUM = "hmstats_rpc_seconds_count", "hmstats_rpc_seconds_sum"


def told(method: str, outcome: str) -> dict[str, float]:
    """What the metrics tell of a method's calls; all metrics of a process that has run thousands of tests take long."""
    labels = {"method": method, "outcome": outcome}
    found = [each for metric in RPC_SECONDS.collect() for each in metric.samples]
    return {
        each.name + each.labels.get("le", ""): each.value
        for each in found
        if labels.items() <= each.labels.items() and not each.name.endswith("created")
    }


@pytest.mark.slow
def test_seconds_of_kept_answers_are_told_some_at_a_time() -> None:
    seconds = CachedSeconds()
    for number in range(1, 200):
        seconds.add("m", 0.5)
        assert 0 <= number - told("m", "cached").get(COUNT, 0) < 64
    seconds.report()
    found = told("m", "cached")
    assert (found[COUNT], found[SUM]) == (199, 99.5)
    seconds.report()
    assert told("m", "cached")[COUNT] == 199


def test_seconds_that_are_told_together_are_what_each_alone_would_be() -> None:
    given = [0.0, 0.0005, 0.00051, 0.3, 0.3, 300.0, 301.0]
    together = CachedSeconds()
    for each in given:
        together.add("together", each)
        RPC_SECONDS.labels("alone", "cached").observe(each)
    together.report()
    assert told("together", "cached") == told("alone", "cached")
    assert told("together", "cached")[COUNT] == len(given)
