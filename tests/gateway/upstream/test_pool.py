from functools import partial

import pytest
from tests.gateway.gateways import TIMES, Upstream

from hmstats.client.connection.address import Address
from hmstats.gateway.upstream.connection import UpstreamConnection, User
from hmstats.gateway.upstream.pool import Pool

ANNA, BEN = User(None), User(None, ("never sent",))


def test_a_place_is_made_by_closing_the_connection_that_has_waited_longest() -> None:
    with Upstream(lambda side: print(side.request())) as upstream:
        address = Address(*upstream.address)
        pool = Pool(partial(UpstreamConnection, times=TIMES), 2, idle_seconds=60)
        first, second = pool.open(address, ANNA), pool.open(address, ANNA)
        pool.give_back(first)
        pool.give_back(second)
        third = pool.open(address, BEN)
        assert pool.waiting == 1
        assert pool.idle(address, ANNA) is second
        assert pool.idle(address, BEN) is None
        pool.drop(second)
        pool.close()
        pool.give_back(third)  # its call ends after the server's
        assert pool.waiting == 0


def test_a_connection_that_could_not_be_opened_takes_no_place() -> None:
    with Upstream(lambda side: None) as upstream:
        gone = Address(*upstream.address)
    pool = Pool(partial(UpstreamConnection, times=TIMES), 1, idle_seconds=60)
    for _ in range(3):
        with pytest.raises(OSError, match="refused"):
            pool.open(gone, ANNA)
    with Upstream(lambda side: print(side.request())) as upstream:
        found = pool.open(Address(*upstream.address), ANNA)
        pool.give_back(found)
        assert pool.idle(Address(*upstream.address), ANNA) is found
        pool.drop(found)
