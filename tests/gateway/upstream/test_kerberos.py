"""An upstream that wants a ticket: the gateway acts there as each of its users, by delegation tokens."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.identity.kerberos import REALM, SERVICE, Kerberos
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.gateway.gateways import wait_until
from tests.gateway.test_health import asking
from tests.peers.start_hive import SASL

from hmstats.client import Metastore, connect
from hmstats.errors import CallRefused
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow  # needs a KDC

HADOOP = {
    "hadoop.security.authentication": "kerberos",
    "hadoop.rpc.protection": "authentication,integrity,privacy",
    "hadoop.proxyuser.bob.hosts": "*",
    "hadoop.proxyuser.bob.users": "alice",
}
"""The gateway is bob, who may act as alice and as nobody else."""


def proof(kerberos: Kerberos) -> dict[str, object]:
    return {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
    }


def environment(kerberos: Kerberos, folder: Path) -> dict[str, str]:
    """The environment of a server that is bob where it asks others."""
    return {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"],
        "KRB5_CLIENT_KTNAME": kerberos.keytab("bob"),
        "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
    }


@pytest.fixture(scope="module", autouse=True)
def carol(kerberos: Kerberos) -> None:
    """A user as whom the gateway may not act."""
    kerberos.admin("add_principal -randkey carol")
    kerberos.admin(f"ktadd -k {kerberos.keytab('carol')} carol")


@contextmanager
def gateway(kerberos: Kerberos, folder: Path, upstream: str, **others: object) -> Iterator[str]:
    """The address of a gateway to an upstream of Kerberos."""
    folder.mkdir()
    settings = {**proof(kerberos), "upstream_principal": f"hive/_HOST@{REALM}", "upstream_write_seconds": 0.2} | others
    flags = ("--workers", "1", "--upstream", upstream)
    with serving(folder, *flags, settings=settings, environment=environment(kerberos, folder)) as port:
        yield f"thrift://localhost:{port}"


@contextmanager
def client(kerberos: Kerberos, user: str, uri: str) -> Iterator[Metastore]:
    """A client with a user's ticket."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRB5CCNAME", f"FILE:{kerberos.tickets(user)}")
        patch.setenv("HMSTATS__METASTORE_PRINCIPAL", f"hive/_HOST@{REALM}")
        with connect(uri, retries=0) as opened:
            yield opened


def make_table(opened: Metastore) -> None:
    storage = api.StorageDescriptor(
        cols=[api.FieldSchema(name="a", type="bigint", comment="")], serdeInfo=api.SerDeInfo(parameters={})
    )
    table = api.Table(tableName="t", dbName="default", sd=storage, partitionKeys=[], parameters={})
    opened._connection.call("create_table", table)


STATISTICS = StatisticsSet((ColumnStatistics("a", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=5)),))


def test_each_user_is_itself_at_an_hmstats(kerberos: Kerberos, tmp_path: Path) -> None:
    audit, proxies = tmp_path / "audit.jsonl", {"bob": {"users": ["alice"], "hosts": ["*"]}}
    settings = {
        **proof(kerberos),
        "audit": "all",
        "audit_file": audit,
        "proxy_users": json.dumps(proxies),
        "delegation_token_days": 1,
    }
    found = {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}
    http_port = free_port()
    with (
        serving(tmp_path, settings=settings, environment=found) as port,
        gateway(kerberos, tmp_path / "gateway", f"thrift://localhost:{port}", http_port=http_port) as uri,
    ):
        look = asking(http_port)
        wait_until(lambda: look() == (200, ["the upstream answers"]))
        with client(kerberos, "alice", uri) as alice:
            make_table(alice)
            large = "x" * 3_000_000
            assert alice._connection.call("get_config_value", "metastore.none", large) == large
            alice.put_table_statistics("default.t", STATISTICS)
            assert alice.table_statistics("default.t", ["a"]) == STATISTICS.columns
        with client(kerberos, "carol", uri) as other, pytest.raises(CallRefused, match="gives the gateway no token"):
            other._connection.call("get_all_databases")
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    by_user = {(each["user"], each["call"]) for each in records}
    assert ("alice", "create_table") in by_user
    assert ("alice", "get_config_value") in by_user  # as bob the gateway asks for the upstream's own settings
    assert not [each for each in by_user if each[0] != "alice" and each[1] == "create_table"]


@pytest.mark.hive
@pytest.mark.parametrize("generation", ["3.1", "4.0"])
def test_a_hive_lets_the_gateway_act_as_those_whom_it_may(kerberos: Kerberos, generation: str, tmp_path: Path) -> None:
    folder = tmp_path / "hive"
    (folder / "conf").mkdir(parents=True)
    rows = "".join(f"<property><name>{name}</name><value>{value}</value></property>" for name, value in HADOOP.items())
    (folder / "conf" / "core-site.xml").write_text(f"<configuration>{rows}</configuration>")
    settings = [
        SASL,
        f"metastore.kerberos.principal={SERVICE}",
        f"metastore.kerberos.keytab.file={kerberos.keytab('hive')}",
        *(f"{name}={value}" for name, value in HADOOP.items()),
    ]
    option = f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}"
    with (
        hive(generation, folder, *settings, java_options=[option]) as port,
        gateway(kerberos, tmp_path / "gateway", f"thrift://localhost:{port}") as uri,
    ):
        with client(kerberos, "alice", uri) as alice:
            make_table(alice)
            large = "x" * 3_000_000
            assert alice._connection.call("get_config_value", "metastore.none", large) == large
            alice.put_table_statistics("default.t", STATISTICS)
            assert alice.table_statistics("default.t", ["a"]) == STATISTICS.columns
        with client(kerberos, "alice", f"thrift://localhost:{port}") as direct:
            assert "t" in direct._connection.call("get_all_tables", "default")
        with client(kerberos, "carol", uri) as other, pytest.raises(CallRefused, match="gives the gateway no token"):
            other._connection.call("get_all_databases")


def test_an_upstream_that_wants_no_proof_is_named(kerberos: Kerberos, tmp_path: Path) -> None:
    with (
        serving(tmp_path) as port,
        gateway(kerberos, tmp_path / "gateway", f"thrift://localhost:{port}") as uri,
        client(kerberos, "alice", uri) as alice,
        pytest.raises(CallRefused, match=f"localhost:{port} "),
    ):
        alice._connection.call("get_all_databases")
