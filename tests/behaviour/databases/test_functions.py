"""User-defined functions: made, found, changed and dropped, as Spark's and Trino's are."""

import time
from typing import Any

import pytest
from tests.fixtures.metastores import HIVES, Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

FILES = [
    api.ResourceUri(resourceType=api.ResourceType.JAR, uri="hdfs:///lib/one.jar"),
    api.ResourceUri(resourceType=api.ResourceType.FILE, uri="hdfs:///lib/two.txt"),
    api.ResourceUri(resourceType=api.ResourceType.ARCHIVE, uri="hdfs:///lib/grün.zip"),
]


def function(metastore: Metastore, name: str = "f", **values: Any) -> Any:
    """A function's struct; not made yet."""
    given = {
        "functionName": name,
        "dbName": metastore.database,
        "className": "org.example.Upper",
        "ownerName": "ann",
        "ownerType": api.PrincipalType.ROLE,
        "createTime": 0,
        "functionType": api.FunctionType.JAVA,
        "resourceUris": FILES,
        "catName": None if metastore.generation < 3 else "hive",
    }
    return api.Function(**(given | values))


def test_a_function_comes_back_as_it_was_made(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    found = client.get_function(metastore.database, "f")
    assert abs(found.createTime - time.time()) < 60
    assert found == function(metastore, createTime=found.createTime)


def test_a_function_without_files(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore, resourceUris=None))
    assert client.get_function(metastore.database, "f").resourceUris == []


def test_a_function_without_an_owner_is_the_callers(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    client.set_ugi("ada", [])
    client.create_function(function(our_metastore, ownerName=None))
    assert client.get_function(our_metastore.database, "f").ownerName == "ada"


def test_names_are_kept_in_lower_case(metastore: Metastore) -> None:
    """Before Hive 4 a name was kept as written, and then only found in lower case."""
    client = metastore.client()
    client.create_function(function(metastore, "MixedCase"))
    kept = metastore.expects("mixedcase", dict.fromkeys(("hive-2.3", "hive-3.1"), "MixedCase"))
    assert client.get_functions(metastore.database.upper(), "*") == [kept]
    if kept == "mixedcase":
        assert client.get_function(metastore.database.upper(), "MIXEDCASE").functionName == "mixedcase"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["lower", "upper", "upper2"]),
        ("*|nope", ["lower", "upper", "upper2"]),
        ("upper*", ["upper", "upper2"]),
        ("UPPER", ["upper"]),
        ("lower|upper2", ["lower", "upper2"]),
        ("nope*", []),
    ],
)
def test_functions_are_listed_by_pattern(metastore: Metastore, pattern: str, expected: list[str]) -> None:
    client = metastore.client()
    for name in ("upper", "lower", "upper2"):
        client.create_function(function(metastore, name))
    assert sorted(client.get_functions(metastore.database, pattern)) == expected


def test_no_pattern_lists_all_and_an_empty_one_none(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    assert client.get_functions(metastore.database, None) == ["f"]
    assert client.get_functions(metastore.database, "") == []


def test_a_database_that_is_not_there_has_no_functions(metastore: Metastore) -> None:
    assert metastore.client().get_functions("nope", "*") == []


def test_all_functions_of_all_databases(metastore: Metastore) -> None:
    client = metastore.client()
    other = f"{metastore.database}_other"
    client.create_database(api.Database(name=other, description="", parameters={}))
    client.create_function(function(metastore))
    client.create_function(function(metastore, "g", dbName=other, resourceUris=FILES[:1]))
    found = {(each.dbName, each.functionName): each for each in client.get_all_functions().functions}
    assert found[metastore.database, "f"].resourceUris == FILES
    assert found[other, "g"].resourceUris == FILES[:1]


def test_functions_by_request(our_metastore: Metastore) -> None:
    """What Hive has since 4.1: names, or the functions themselves."""
    client = our_metastore.client()
    for name in ("upper", "lower"):
        client.create_function(function(our_metastore, name))
    request = api.GetFunctionsRequest(dbName=our_metastore.database, pattern="*")
    assert client.get_functions_req(request).function_names == ["lower", "upper"]
    request.returnNames = False
    found = client.get_functions_req(request)
    assert found.function_names is None
    assert [each.functionName for each in found.functions] == ["lower", "upper"]
    assert found.functions[0].resourceUris == FILES


def test_an_unknown_function_is_no_such_object(metastore: Metastore) -> None:
    client = metastore.client()
    with pytest.raises(api.NoSuchObjectException, match="does not exist"):
        client.get_function(metastore.database, "nope")
    with pytest.raises(api.NoSuchObjectException):
        client.get_function("nope", "f")
    with pytest.raises(api.NoSuchObjectException, match="Function nope does not exist"):
        client.drop_function(metastore.database, "nope")


def test_a_name_that_is_taken_is_refused(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    with pytest.raises(api.AlreadyExistsException, match=r"Function [fF] already exists"):
        client.create_function(function(metastore, "F"))


def test_a_function_in_an_unknown_database_is_refused(metastore: Metastore) -> None:
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().create_function(function(metastore, dbName="nope"))


@pytest.mark.parametrize("name", ["a;b", "a b", "grün", ""])
def test_a_name_that_is_none_is_refused(metastore: Metastore, name: str) -> None:
    client = metastore.client()
    with pytest.raises(api.InvalidObjectException, match="is not a valid object name"):
        client.create_function(function(metastore, name))
    assert client.get_functions(metastore.database, "*") == []


@pytest.mark.parametrize("field", ["functionName", "dbName", "ownerType", "functionType"])
def test_a_function_that_lacks_something_is_refused(our_metastore: Metastore, field: str) -> None:
    given = function(our_metastore)
    setattr(given, field, None)
    with pytest.raises(api.MetaException, match="cannot be null"):
        our_metastore.client().create_function(given)


def test_a_function_without_a_class_is_refused(metastore: Metastore) -> None:
    with pytest.raises(api.InvalidObjectException, match="Function class name cannot be null"):
        metastore.client().create_function(function(metastore, className=None))


def test_an_alter_replaces_a_function(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    before = client.get_function(metastore.database, "f")
    changed = function(
        metastore, "g", className="org.example.Lower", ownerName="bob", ownerType=api.PrincipalType.USER, createTime=7
    )
    client.alter_function(metastore.database, "F", changed)
    found = client.get_function(metastore.database, "g")
    assert (found.className, found.ownerName, found.ownerType) == ("org.example.Lower", "bob", api.PrincipalType.USER)
    assert found.createTime == before.createTime
    assert client.get_functions(metastore.database, "*") == ["g"]


def test_an_alter_replaces_the_files(metastore: Metastore) -> None:
    """Hive keeps the old files: a function that was replaced still loads its old code."""
    client = metastore.client()
    client.create_function(function(metastore))
    client.alter_function(metastore.database, "f", function(metastore, resourceUris=FILES[1:2]))
    expected = metastore.expects(FILES[1:2], dict.fromkeys(HIVES, FILES))
    assert client.get_function(metastore.database, "f").resourceUris == expected


@pytest.mark.parametrize(
    ("old", "changes"),
    [("nope", {}), ("f", {"functionName": "a;b"}), ("f", {"dbName": "nope"}), ("f", {"functionName": "g"})],
)
def test_an_alter_that_cannot_be_is_refused(metastore: Metastore, old: str, changes: dict[str, str]) -> None:
    """An unknown function, a bad name, an unknown database, a name that is taken: all a MetaException.

    Before Hive 4 a bad name or database was an internal error.
    """
    client = metastore.client()
    for name in ("f", "g"):
        client.create_function(function(metastore, name))
    refusal = api.MetaException
    if metastore.generation < 4 and changes in ({"functionName": "a;b"}, {"dbName": "nope"}):
        refusal = TApplicationException
    with pytest.raises(refusal):
        client.alter_function(metastore.database, old, function(metastore, **({"functionName": old} | changes)))
    assert sorted(client.get_functions(metastore.database, "*")) == ["f", "g"]


def test_a_dropped_function_is_gone(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    client.drop_function(metastore.database.upper(), "F")
    with pytest.raises(api.NoSuchObjectException):
        client.get_function(metastore.database, "f")
    client.create_function(function(metastore))


def test_a_database_with_functions_is_dropped_only_when_that_is_said(metastore: Metastore) -> None:
    client = metastore.client()
    client.create_function(function(metastore))
    with pytest.raises(api.InvalidOperationException, match="is not empty"):
        client.drop_database(metastore.database, True, False)
    client.drop_database(metastore.database, True, True)
    assert metastore.database not in {each.dbName for each in client.get_all_functions().functions}
