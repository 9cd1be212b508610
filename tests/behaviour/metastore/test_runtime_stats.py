"""What queries of Hive have counted, kept for the next HiveServer2."""

import time
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

_FAR = 2**31 - 1
_MANY = 10**6


@pytest.fixture
def client(metastore: Metastore) -> Any:
    if metastore.generation < 3:
        pytest.skip("Hive before 3 keeps none")
    return metastore.client()


def kept(client: Any, weight: int = _MANY, until: int = _FAR) -> list[tuple[int, bytes]]:
    found = client.get_runtime_stats(api.GetRuntimeStatsRequest(maxWeight=weight, maxCreateTime=until))
    return [(each.weight, _bytes(each.payload)) for each in found]


def _bytes(payload: Any) -> bytes:
    return payload if isinstance(payload, bytes) else payload.encode()


@pytest.mark.slow
def test_what_was_added_comes_back_newest_first_up_to_a_weight(metastore: Metastore, client: Any) -> None:
    before = len(kept(client))
    payloads = [f'{{"{metastore.database}": {number}}}'.encode() for number in range(3)]
    for number, payload in enumerate(payloads):
        client.add_runtime_stats(api.RuntimeStat(createTime=1, weight=10 + number, payload=payload))
        if number < 2:
            time.sleep(1.1)  # times are whole seconds
    newest = [(12, payloads[2]), (11, payloads[1]), (10, payloads[0])]
    assert kept(client)[:3] == newest
    assert len(kept(client)) == before + 3
    assert kept(client, weight=1) == newest[:1]
    assert kept(client, weight=12) == newest[:1]
    assert kept(client, weight=13) == newest[:2]
    assert kept(client, weight=-1)[:3] == newest
    now = int(time.time())
    (last,) = client.get_runtime_stats(api.GetRuntimeStatsRequest(maxWeight=1, maxCreateTime=_FAR))
    assert abs(last.createTime - now) < 60  # the server says when
    assert kept(client, until=last.createTime)[:2] == newest[1:]
    assert kept(client, until=1) == []
