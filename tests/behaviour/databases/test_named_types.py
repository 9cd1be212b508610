"""Named types: what Hive's clients still make and drop."""

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


def fields(*names: str) -> list[object]:
    """Fields that are texts."""
    return [api.FieldSchema(name=name, type="string", comment=f"about {name}") for name in names]


def test_a_type_is_made_read_and_dropped(metastore: Metastore) -> None:
    client, name = metastore.client(), f"{metastore.database}_person"
    assert client.create_type(api.Type(name=name, fields=fields("name", "age")))
    found = client.get_type(name)
    assert (found.name, found.type1, found.type2) == (name, None, None)
    assert [(each.name, each.type, each.comment) for each in found.fields] == [
        ("name", "string", "about name"),
        ("age", "string", "about age"),
    ]
    assert client.drop_type(name)
    with pytest.raises(api.NoSuchObjectException, match=name):
        client.get_type(name)


def test_a_type_of_others(metastore: Metastore) -> None:
    client, name = metastore.client(), f"{metastore.database}_list"
    client.create_type(api.Type(name=name, type1="int", type2="string", fields=[]))
    found = client.get_type(name)
    assert (found.type1, found.type2, found.fields or []) == ("int", "string", [])
    client.drop_type(name)


def test_a_name_is_taken_once(metastore: Metastore) -> None:
    client, name = metastore.client(), f"{metastore.database}_taken"
    client.create_type(api.Type(name=name, fields=fields("a")))
    with pytest.raises(api.AlreadyExistsException, match=f"Type {name} already exists"):
        client.create_type(api.Type(name=name, fields=fields("b")))
    assert [each.name for each in client.get_type(name).fields] == ["a"]
    client.drop_type(name)


def test_what_is_not_there_is_dropped_all_the_same(metastore: Metastore) -> None:
    assert metastore.client().drop_type(f"{metastore.database}_nothing")


def test_a_field_that_is_there_twice_is_refused(our_metastore: Metastore) -> None:
    with pytest.raises(api.InvalidObjectException, match="type twice must have each field once"):
        our_metastore.client().create_type(api.Type(name="twice", fields=fields("a", "a")))
