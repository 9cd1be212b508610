from functools import partial

from tests.store.row_counts import row_counts

from hmstats.store.access import tokens
from hmstats.store.database.store import Store


def test_tokens_are_kept_by_their_identifiers(store: Store) -> None:
    before = row_counts(store)
    for identifier in ("b", "a"):
        store.write(partial(tokens.insert_one, identifier=identifier, token=f"of {identifier}"))
    with store.read() as connection:
        assert tokens.identifiers(connection) == ["a", "b"]
        assert tokens.get(connection, "b") == "of b"
        assert tokens.get(connection, "c") is None
    removed = [store.write(partial(tokens.remove, identifier=each)) for each in ("a", "b", "b")]
    assert removed == [True, True, False]
    assert row_counts(store) == before


def test_keys_have_rising_numbers_that_are_not_used_again(store: Store) -> None:
    first, second = (store.write(partial(tokens.insert_key, key=each)) for each in ("k1", "k2"))
    assert first < second
    assert store.write(lambda unit: tokens.replace_key(unit, first, "changed"))
    with store.read() as connection:
        assert tokens.keys(connection) == ["changed", "k2"]
    removed = [store.write(partial(tokens.remove_key, key_id=each)) for each in (first, second, second)]
    assert removed == [True, True, False]
    assert not store.write(lambda unit: tokens.replace_key(unit, second, "gone"))
    assert store.write(lambda unit: tokens.insert_key(unit, "k3")) > second
