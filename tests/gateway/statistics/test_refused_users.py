"""A user whom the upstream refuses gets no statistics from the gateway's memory, as if the upstream were away."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, of_all
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.gateway.held_upstream import Way

from hmstats.client import connect
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import Refusal, encode_refusal, read_head


class Choosy(UpstreamSide):
    """A connection to an upstream that takes every user but mallory."""

    def request(self) -> bytes | None:
        """The next request, unless it names mallory."""
        asked = super().request()
        head = None if asked is None else read_head(asked)
        if asked is not None and head is not None and head.name == "set_ugi" and b"mallory" in asked:
            self.send(encode_refusal(head, Refusal.INTERNAL_ERROR, "not you"))
            return None
        return asked


def test_a_refused_user_is_refused(our_metastore: Metastore, tmp_path: Path) -> None:
    our_metastore.table("t", COLUMNS)
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as there:
        there.put_table_statistics(f"{our_metastore.database}.t", StatisticsSet(of_all(41)))
    way = Way(our_metastore.port)
    with (
        Upstream(lambda side: way.serve(Choosy(side.socket))) as upstream,
        serving(tmp_path, "--upstream", f"thrift://127.0.0.1:{upstream.address[1]}") as port,
    ):
        gateway = replace(our_metastore, port=port)
        request = api.TableStatsRequest(dbName=gateway.database, tblName="t", colNames=["a"], engine="hive")
        alice, mallory = gateway.client(), gateway.client()
        alice.set_ugi("alice", [])
        assert [each.statsData.longStats.lowValue for each in alice.get_table_statistics_req(request).tableStats] == [
            41
        ]
        mallory.set_ugi("mallory", [])
        with pytest.raises(api.MetaException, match="refuses the user mallory"):
            mallory.get_table_statistics_req(request)
        with pytest.raises(api.MetaException, match="refuses the user mallory"):
            mallory.get_table_column_statistics(gateway.database, "t", "a")
