import ssl
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import Files, issued
from tests.gateway.gateways import gateway, upstream_of
from tests.server.layers.test_tls import tls_of, trusting
from tests.server.serving import Client, serving

from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.metastore.session import SessionCalls

MANY = [f"database_{number:09}" for number in range(50_000)]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path)


def many(session: Session) -> list[str]:
    return [session.user or "nobody", *MANY]


def test_a_large_answer_over_tls_in_front_and_behind(files: Files) -> None:
    tls, trusted = tls_of(files, required=True), trusting(files)
    ugi = SessionCalls().set_ugi
    with (
        serving(None, tls, None, set_ugi=ugi, get_all_databases=many) as upstream,
        gateway(upstream, tls=tls, trusted=trusted) as address,
        Client(address, trusted) as client,
    ):
        for user in ("anna", "ben", "anna"):
            client.ask("set_ugi", user_name=user, group_names=[])
            assert client.ask("get_all_databases").value == [user, *MANY]


def test_an_upstream_whose_certificate_is_not_trusted_is_not_used(files: Files) -> None:
    with (
        serving(None, tls_of(files), None, get_all_databases=many) as upstream,
        gateway(upstream, trusted=ssl.create_default_context()) as address,
        Client(address) as client,
    ):
        assert "certificate verify failed" in client.ask("get_all_databases").content.o1.message


def test_an_upstream_without_tls(files: Files) -> None:
    with (
        upstream_of(get_all_databases=many) as upstream,
        gateway(upstream, trusted=trusting(files)) as address,
        Client(address) as client,
    ):
        assert f"thrift+tls://127.0.0.1:{upstream[1]}" in client.ask("get_all_databases").content.o1.message
