"""Delegation tokens and master keys, which servers keep in their metastore."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


def test_a_token_is_kept_told_and_forgotten(metastore: Metastore) -> None:
    client, identifier = metastore.client(), f"{metastore.database}-token"
    assert client.add_token(identifier, "secret")
    assert client.get_token(identifier) == "secret"
    assert identifier in client.get_all_token_identifiers()
    assert client.remove_token(identifier)
    assert identifier not in client.get_all_token_identifiers()
    assert not client.remove_token(identifier)


def test_an_identifier_is_taken_once(metastore: Metastore) -> None:
    client, identifier = metastore.client(), f"{metastore.database}-token"
    client.add_token(identifier, "first")
    assert not client.add_token(identifier, "second")
    assert client.get_token(identifier) == "first"
    client.remove_token(identifier)


def test_a_token_that_is_not_there_is_empty(metastore: Metastore) -> None:
    if metastore.generation < 3:
        pytest.skip("Hive 2.3 answers nothing, which no client can read")
    assert metastore.client().get_token(f"{metastore.database}-none") == ""


@pytest.fixture
def keeper(metastore_with_transactions: Metastore) -> Metastore:
    """A metastore that can keep keys: on Derby, which Hive 3.1 has here, Hive cannot."""
    if metastore_with_transactions.flavour == "hive-3.1":
        pytest.skip("on Derby Hive cannot number its keys")
    return metastore_with_transactions


def test_master_keys_are_kept_under_numbers(keeper: Metastore) -> None:
    client, metastore = keeper.client(), keeper
    keys = [f"{metastore.database}-{each}" for each in "ab"]
    numbers = [client.add_master_key(each) for each in keys]
    assert numbers[0] < numbers[1]
    own = [each for each in client.get_master_keys() if each.startswith(f"{metastore.database}-")]
    assert own == keys
    client.update_master_key(numbers[0], f"{keys[0]}-new")
    assert f"{keys[0]}-new" in client.get_master_keys()
    assert keys[0] not in client.get_master_keys()
    assert [client.remove_master_key(each) for each in numbers] == [True, True]
    assert not client.remove_master_key(numbers[0])


def test_a_master_key_that_is_not_there_is_not_replaced(keeper: Metastore) -> None:
    client = keeper.client()
    number = client.add_master_key("gone soon")
    client.remove_master_key(number)
    refusal = keeper.expects(api.NoSuchObjectException, {"hive-2.3": api.MetaException, "hive-4.0": api.MetaException})
    with pytest.raises(refusal, match=f"No key found with keyId: {number}"):
        client.update_master_key(number, "new")


def test_a_number_is_never_given_twice(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    first = client.add_master_key("first")
    client.remove_master_key(first)
    second = client.add_master_key("second")
    assert second > first
    client.remove_master_key(second)


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.add_token(None, "t"),
        lambda client: client.add_token("i", None),
        lambda client: client.get_token(None),
        lambda client: client.remove_token(None),
        lambda client: client.add_master_key(None),
        lambda client: client.update_master_key(1, None),
    ],
)
def test_a_missing_text_is_refused(our_metastore: Metastore, call: Callable[[Any], Any]) -> None:
    with pytest.raises((api.MetaException, TApplicationException), match="must be texts, found none"):
        call(our_metastore.client())


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.get_delegation_token("ann", "hive"),
        lambda client: client.renew_delegation_token("token"),
        lambda client: client.cancel_delegation_token("token"),
    ],
)
def test_none_is_issued_without_kerberos(metastore: Metastore, call: Callable[[Any], Any]) -> None:
    with pytest.raises((api.MetaException, TApplicationException)):
        call(metastore.client())
