"""A user whom the upstream refuses gets no statistics from the gateway's memory, and takes nothing out of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, long, of_all
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.gateway.held_upstream import Way
from tests.server.requests import encoded

from hmstats.client import connect
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import Refusal, encode_refusal, encode_reply, read_head


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


class Hiding(UpstreamSide):
    """A connection to an upstream that hides tables from mallory, as Ranger does: to him they do not exist."""

    is_mallorys = False

    def request(self) -> bytes | None:
        """The next request, unless mallory asks for a table or its statistics."""
        while (asked := super().request()) is not None:
            head = read_head(asked)
            assert head is not None
            self.is_mallorys |= head.name == "set_ugi" and b"mallory" in asked
            if not self.is_mallorys or not head.name.startswith("get_table"):
                return asked
            method, missing = methods()[head.name], api.NoSuchObjectException("Table t does not exist")
            result = method.result(**{method.throws[api.NoSuchObjectException]: missing})
            self.send(encode_reply(head, encoded(result)))
        return None


def test_a_user_from_whom_a_table_is_hidden_removes_nothing_of_it(our_metastore: Metastore, tmp_path: Path) -> None:
    our_metastore.table("t", COLUMNS)
    name, of = f"{our_metastore.database}.t", DatabaseName("hive", our_metastore.database)
    way = Way(our_metastore.port)
    with (
        Upstream(lambda side: way.serve(Hiding(side.socket))) as upstream,
        serving(tmp_path, "--upstream", f"thrift://127.0.0.1:{upstream.address[1]}") as port,
        connect(f"thrift://127.0.0.1:{port}", retries=0) as ours,
    ):
        gateway = replace(our_metastore, port=port)
        ours.put_table_statistics(name, StatisticsSet((long(1, 3, values=("1", "2", "2")),)))
        ours.locks.lock(LockedObject(of, "t"), reason="checked by hand")
        mallory = gateway.client()
        mallory.set_ugi("mallory", [])
        with pytest.raises(api.NoSuchObjectException):
            mallory.get_table_column_statistics(gateway.database, "t", "a")
        assert [each.value for each in ours.top_k(name, "a", 1).values] == [2]
        assert [each.reason for each in ours.locks.listed(of.database)] == ["checked by hand"]
