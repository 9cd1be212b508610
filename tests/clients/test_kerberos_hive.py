"""Our client with a ticket, and with a delegation token, against a real Hive Metastore 4.0.1 with the same KDC."""

import os
from collections.abc import Iterator

import pytest
from tests.clients.kerberos_sessions import guarded_hive
from tests.fixtures.identity.kerberos import REALM, Kerberos

from hmstats.client import connect
from hmstats.client.connection.credentials import credentials
from hmstats.errors import CallRefused, SettingsError

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven


@pytest.fixture(scope="module")
def uri(kerberos: Kerberos, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Hive Metastore that wants a ticket."""
    with guarded_hive(kerberos, tmp_path_factory.mktemp("hive")) as port:
        yield f"thrift://localhost:{port}"


@pytest.fixture(autouse=True)
def ticket(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket of alice."""
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kerberos.tickets('alice')}")
    monkeypatch.setenv("HMSTATS__METASTORE_PRINCIPAL", f"hive/_HOST@{REALM}")


def test_a_ticket_opens_it(uri: str) -> None:
    with connect(uri, retries=0) as service:
        assert service._connection.call("get_all_databases") == ["default"]
        large = "x" * 3_000_000
        assert service._connection.call("get_config_value", "metastore.none", large) == large


def test_other_processes_get_a_token(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(uri, retries=0) as service, service.handing_over() as handed:
        assert handed.delegation_token is not None
        monkeypatch.delenv("KRB5CCNAME")
        monkeypatch.setenv("KRB5_CONFIG", os.devnull)
        with connect(uri, retries=0, credentials=credentials(handed)) as other:
            assert other._connection.call("get_all_databases") == ["default"]
    with connect(uri, retries=0, credentials=credentials(handed)) as late, pytest.raises(CallRefused, match="SASL"):
        late._connection.call("get_all_databases")


def test_without_a_ticket_it_is_closed(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", "FILE:/nonexistent")
    with connect(uri, retries=0) as service, pytest.raises(SettingsError, match="run kinit"):
        service._connection.call("get_all_databases")
