import socket

import pytest

from hmstats.errors import SettingsError
from hmstats.server.sockets.port import Port

HOST = "127.0.0.1"


@pytest.mark.parametrize("spreads", [True, False])
def test_who_still_listens_gets_the_clients(spreads: bool) -> None:
    with Port((HOST, 0), spreads=spreads) as port, port.listen() as one, port.listen() as other:
        assert one.getsockname() == other.getsockname() == port.address
        other.close()
        for _ in range(10):
            with socket.create_connection(port.address) as client, one.accept()[0] as accepted:
                assert accepted.getpeername() == client.getsockname()


@pytest.mark.parametrize("spreads", [True, False])
def test_a_port_that_is_listened_on_is_refused(spreads: bool) -> None:
    with (
        Port((HOST, 0), spreads=spreads) as first,
        first.listen(),
        pytest.raises(SettingsError, match=f"cannot listen on {HOST}:{first.address[1]}: Address already in use"),
    ):
        Port(first.address)
    with Port(first.address) as again:
        assert again.address == first.address


def test_a_port_of_another_that_is_not_listened_on_yet_is_refused_too() -> None:
    with Port((HOST, 0)) as first, pytest.raises(SettingsError, match="cannot listen"):
        Port(first.address)


def test_an_address_that_is_not_ours() -> None:
    with pytest.raises(SettingsError, match=r"cannot listen on 192\.0\.2\.1:9083: Cannot assign requested address"):
        Port(("192.0.2.1", 9083))


def test_ipv6() -> None:
    with Port(("::1", 0)) as port, port.listen() as listening, socket.create_connection(port.address):
        assert listening.getsockname()[:2] == port.address
