"""What counts as a metastore's address."""

import pytest

from hmstats.client.connection.address import Address, addresses
from hmstats.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thrift://h:1", [("h", 1)]),
        ("thrift://h", [("h", 9083)]),
        (" thrift://a:1 , thrift://b:2,", [("a", 1), ("b", 2)]),
        ("thrift://[::1]:9083", [("::1", 9083)]),
        ("thrift://10.0.0.1:9083/", [("10.0.0.1", 9083)]),
    ],
)
def test_addresses(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(each.host, each.port) for each in addresses(text)] == expected


@pytest.mark.parametrize(
    "text",
    ["", ",", "h:1", "ftp://h:1", "thrift://", "thrift://h:x", "thrift://h:70000", "thrift://h:1/x", "https://h/x?y"],
)
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match=r"a metastore's address must be thrift://HOST:PORT, .*, found"):
        addresses(text)


def test_an_address_reads_as_it_is_written() -> None:
    assert [str(Address("h", 1)), str(Address("::1", 2))] == ["thrift://h:1", "thrift://[::1]:2"]
    assert [str(each) for each in addresses("thrift+tls://h,thrift://i")] == ["thrift+tls://h:9083", "thrift://i:9083"]


def test_addresses_over_http() -> None:
    found = addresses("http://h, https://h:1/a/b")
    assert found == (Address("h", 9083, tls=False, path="/metastore"), Address("h", 1, tls=True, path="/a/b"))
    assert [str(each) for each in found] == ["http://h:9083/metastore", "https://h:1/a/b"]


def test_a_secret_in_an_address_is_refused_and_not_told() -> None:
    with pytest.raises(SettingsError, match="no user and password") as error:
        addresses("https://alice:canary@h")
    assert "canary" not in str(error.value)
