"""Partitions: what a client that adds and lists them depends on."""

from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture(autouse=True)
def _a_table(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"))


def _names(metastore: Metastore) -> list[str]:
    found: list[str] = metastore.client().get_partition_names(metastore.database, "t", -1)
    return found


def _values(partitions: list[Any]) -> list[list[str]]:
    return sorted(each.values for each in partitions)


def test_a_partition_comes_back_as_it_was_added(metastore: Metastore) -> None:
    new = metastore.partition("a", "1")
    new.parameters = {"numRows": "7", "own": "yes"}
    added = metastore.client().add_partition(new)
    found = metastore.client().get_partition(metastore.database, "t", ["a", "1"])
    for each in (added, found):
        assert (each.dbName, each.tableName, each.values) == (metastore.database, "t", ["a", "1"])
        assert (each.parameters["numRows"], each.parameters["own"]) == ("7", "yes")
        assert [column.name for column in each.sd.cols] == [column.name for column in new.sd.cols]
        assert each.sd.location == f"{metastore.read_table().sd.location}/k=a/j=1"


def test_many_partitions_are_added_at_once(metastore: Metastore) -> None:
    """Trino fails unless the answer is the number that it sent."""
    metastore.add_partitions(*((value, str(number)) for value in "ab" for number in range(30)))
    names = _names(metastore)
    assert len(names) == 60
    assert names == sorted(names)


def test_added_partitions_come_back_when_asked_for(metastore: Metastore) -> None:
    new = [metastore.partition("a", "1"), metastore.partition("a", "2")]
    request = api.AddPartitionsRequest(
        dbName=metastore.database, tblName="t", parts=new, ifNotExists=False, needResult=True
    )
    assert _values(metastore.client().add_partitions_req(request).partitions) == [["a", "1"], ["a", "2"]]


def test_partitions_that_are_there_may_be_passed_over(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"))
    new = [metastore.partition("a", "1"), metastore.partition("a", "2")]
    request = api.AddPartitionsRequest(dbName=metastore.database, tblName="t", parts=new, ifNotExists=True)
    metastore.client().add_partitions_req(request)
    assert _names(metastore) == ["k=a/j=1", "k=a/j=2"]


def test_a_partition_that_is_there_is_refused_and_none_is_added(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"))
    with pytest.raises(api.AlreadyExistsException):
        metastore.client().add_partitions([metastore.partition("b", "1"), metastore.partition("a", "1")])
    assert _names(metastore) == ["k=a/j=1"]


def test_a_partition_of_an_unknown_table_is_refused(metastore: Metastore) -> None:
    with pytest.raises(api.InvalidObjectException):
        metastore.client().add_partitions([metastore.partition("a", "1", table="nope")])


def test_a_partition_with_too_few_values_is_refused(metastore: Metastore) -> None:
    with pytest.raises(api.MetaException, match=r"Invalid partition key & values; keys \[k, j.*values \[a"):
        metastore.client().add_partitions([metastore.partition("a")])
    assert _names(metastore) == []


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a/b=c", "k=a%2Fb%3Dc/j=1"),
        ("2020-01-01 12:00:00", "k=2020-01-01 12%3A00%3A00/j=1"),
        ("100%", "k=100%25/j=1"),
        ("grün", "k=grün/j=1"),
        ("MiXed", "k=MiXed/j=1"),
    ],
)
def test_values_that_a_path_cannot_hold(metastore: Metastore, value: str, name: str) -> None:
    metastore.add_partitions((value, "1"))
    client = metastore.client()
    assert _names(metastore) == [name]
    assert client.get_partition_by_name(metastore.database, "t", name).values == [value, "1"]
    assert client.get_partitions_by_names(metastore.database, "t", [name])[0].values == [value, "1"]


def test_a_value_that_is_null(metastore: Metastore) -> None:
    """Writers name it themselves, as Spark does."""
    null = "__HIVE_DEFAULT_PARTITION__"
    metastore.add_partitions((null, "1"))
    assert _names(metastore) == [f"k={null}/j=1"]
    assert metastore.client().get_partition(metastore.database, "t", [null, "1"]).values == [null, "1"]


def test_an_empty_value_is_named_as_null(metastore: Metastore) -> None:
    metastore.add_partitions(("", "1"))
    assert _names(metastore) == ["k=__HIVE_DEFAULT_PARTITION__/j=1"]
    assert _values(metastore.client().get_partitions(metastore.database, "t", -1)) == [["", "1"]]


@pytest.mark.parametrize(
    ("pattern", "found", "others"),
    [
        ("ab", ["ab"], {}),
        ("a%", ["a.c", "ab", "abc"], {"hive-2.3": [], "hive-3.1": []}),
        ("a.*", ["a.c", "ab", "abc"], {"hive-4.0": []}),
        ("a.c", ["a.c", "abc"], {"hive-4.0": ["a.c"]}),
        ("[a]b", [], {}),
        ("ab|xab", [], {}),
    ],
)
def test_patterns_in_a_filter(
    metastore: Metastore, pattern: str, found: list[str], others: dict[str, list[str]]
) -> None:
    """Of regular expressions, a dot and a dot with an asterisk; SQL's percent sign too."""
    for value in ("ab", "abc", "a.c", "xab"):
        metastore.add_partitions((value, "1"))
    listed = metastore.client().get_partitions_by_filter(metastore.database, "t", f'k like "{pattern}"', -1)
    assert sorted(each.values[0] for each in listed) == metastore.expects(found, others)


@pytest.mark.parametrize("name", ["j=1/k=a%2Fb c", "k=a%2Fb c/j=1/other=2", "k=a%2fb c/j=1"])
def test_a_name_is_read_key_by_key(metastore: Metastore, name: str) -> None:
    metastore.add_partitions(("a/b c", "1"))
    assert metastore.client().get_partition_by_name(metastore.database, "t", name).values == ["a/b c", "1"]


def test_a_name_is_read_unescaped(our_metastore: Metastore) -> None:
    """Hive makes a path of the name, which cannot hold a colon."""
    our_metastore.table(keys=("k", "j"))
    our_metastore.add_partitions(("x:y", "1"))
    assert our_metastore.client().get_partition_by_name(our_metastore.database, "t", "j=1/k=x:y").values == ["x:y", "1"]


def test_the_keys_of_a_name_have_their_own_case(metastore: Metastore) -> None:
    metastore.add_partitions(("x", "1"))
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().get_partition_by_name(metastore.database, "t", "K=x/j=1")


def test_those_partitions_that_exist_are_read_by_name(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    wanted = ["k=b/j=1", "k=nope/j=1", "k=a/j=1"]
    found = metastore.client().get_partitions_by_names(metastore.database, "t", wanted)
    assert _values(found) == [["a", "1"], ["b", "1"]]


def test_no_more_partitions_than_asked_for(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    assert client.get_partition_names(metastore.database, "t", 2) == ["k=a/j=1", "k=a/j=2"]
    assert _values(client.get_partitions(metastore.database, "t", 2)) == [["a", "1"], ["a", "2"]]
    assert len(client.get_partitions(metastore.database, "t", -1)) == 3


def test_an_empty_value_matches_any(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    assert sorted(client.get_partition_names_ps(metastore.database, "t", ["a"], -1)) == ["k=a/j=1", "k=a/j=2"]
    assert sorted(client.get_partition_names_ps(metastore.database, "t", ["", "1"], -1)) == ["k=a/j=1", "k=b/j=1"]
    found = client.get_partitions_ps_with_auth(metastore.database, "t", ["b", ""], -1, "ada", [])
    assert _values(found) == [["b", "1"]]


def test_partitions_are_chosen_by_a_filter(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    found = client.get_partitions_by_filter(metastore.database, "t", "k = 'a' and j > '1'", -1)
    assert _values(found) == [["a", "2"]]
    with pytest.raises(api.MetaException):
        client.get_partitions_by_filter(metastore.database, "t", "nope = 'a'", -1)


def test_equality_has_two_spellings_in_a_filter(metastore: Metastore) -> None:
    """One in Hive before 4."""
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    for text in ("k == 'a' and j = '2'", "'a' == k and j == \"2\""):
        if metastore.generation < 4:
            with pytest.raises(api.MetaException):
                client.get_partitions_by_filter(metastore.database, "t", text, -1)
            continue
        assert _values(client.get_partitions_by_filter(metastore.database, "t", text, -1)) == [["a", "2"]]
    with pytest.raises(api.MetaException):
        client.get_partitions_by_filter(metastore.database, "t", "k === 'a'", -1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("day >= '2020-01-02'", ["2020-01-02", "2021-01-01"]),
        ("day != '2020-01-02'", ["2020-01-01", "2021-01-01"]),
        ("day not between '2020-01-02' and '2020-12-31'", ["2020-01-01", "2021-01-01"]),
        ("day > '1999-01-01' or day < '1999-01-01'", ["2020-01-01", "2020-01-02", "2021-01-01"]),
    ],
)
def test_a_null_date_is_not_compared_with_dates(metastore: Metastore, text: str, found: list[str]) -> None:
    metastore.table("dated", keys=["day date"])
    for value in ("2020-01-01", "2020-01-02", "2021-01-01", "__HIVE_DEFAULT_PARTITION__"):
        metastore.add_partitions((value,), table="dated")
    client = metastore.client()
    if "not between" in text and metastore.generation < 4:
        pytest.skip("came with Hive 4")
    listed = client.get_partitions_by_filter(metastore.database, "dated", text, -1)
    assert sorted(each.values[0] for each in listed) == found


def test_a_null_date_is_found_by_its_name(metastore: Metastore) -> None:
    """Hive before 4 finds none, or refuses it."""
    if metastore.generation < 4:
        pytest.skip("came with Hive 4")
    metastore.table("dated", keys=["day date"])
    metastore.add_partitions(("2020-01-01",), ("__HIVE_DEFAULT_PARTITION__",), table="dated")
    listed = metastore.client().get_partitions_by_filter(
        metastore.database, "dated", "day = '__HIVE_DEFAULT_PARTITION__'", -1
    )
    assert [each.values for each in listed] == [["__HIVE_DEFAULT_PARTITION__"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n = '__HIVE_DEFAULT_PARTITION__'", ["__HIVE_DEFAULT_PARTITION__"]),
        ("n != '__HIVE_DEFAULT_PARTITION__'", ["1", "12"]),
        ("n = 1 or n = '__HIVE_DEFAULT_PARTITION__'", ["1", "__HIVE_DEFAULT_PARTITION__"]),
        ("n < 5", ["1"]),
    ],
)
def test_a_null_number_is_found_by_its_name(metastore: Metastore, text: str, found: list[str]) -> None:
    """Hive before 4 refuses to compare it."""
    if metastore.generation < 4:
        pytest.skip("came with Hive 4")
    metastore.table("numbered", keys=["n int"])
    metastore.add_partitions(("1",), ("12",), ("__HIVE_DEFAULT_PARTITION__",), table="numbered")
    client = metastore.client()
    listed = client.get_partitions_by_filter(metastore.database, "numbered", text, -1)
    assert sorted(each.values[0] for each in listed) == found
    assert client.get_num_partitions_by_filter(metastore.database, "numbered", text) == len(found)


@pytest.mark.parametrize(
    "text", ["n = '1_0'", "n = ' 10'", "n = '\uff11\uff10'", "n in ('1', '1_0')", f"n < '{2**63}'"]
)
def test_a_text_that_is_no_number_is_not_compared_with_numbers(metastore: Metastore, text: str) -> None:
    metastore.table("numbered", keys=["n int"])
    metastore.add_partitions(("10",), table="numbered")
    with pytest.raises(api.MetaException):
        metastore.client().get_partitions_by_filter(metastore.database, "numbered", text, -1)


@pytest.mark.parametrize("text", ["1st = 'b'", "'a' < 1st", "(1st = 'b')", "1st >= 'b' and 1st != 'c'"])
def test_a_key_may_begin_with_a_digit(metastore: Metastore, text: str) -> None:
    metastore.table("numbered", keys=["1st"])
    metastore.add_partitions(("a",), ("b",), table="numbered")
    listed = metastore.client().get_partitions_by_filter(metastore.database, "numbered", text, -1)
    assert [each.values for each in listed] == [["b"]]


@pytest.mark.parametrize("kind", ["decimal(10,2)", "double", "float"])
@pytest.mark.parametrize("text", ["n < 10", "n = '9.50'", "n between 1 and 10", "10 > n"])
def test_a_fraction_is_not_compared_as_a_text(metastore: Metastore, kind: str, text: str) -> None:
    metastore.table("priced", keys=[f"n {kind}"])
    metastore.add_partitions(("9.5",), ("100",), table="priced")
    with pytest.raises(api.MetaException):
        metastore.client().get_partitions_by_filter(metastore.database, "priced", text, -1)


def test_a_list_without_values_names_no_partitions(metastore: Metastore) -> None:
    """A Hive 4 whose direct SQL is on answers all; the error is what Hive's own client tests expect."""
    metastore.add_partitions(("a", "1"), ("b", "1"))
    client = metastore.client()
    if metastore.ours or metastore.generation < 4:
        with pytest.raises(api.MetaException):
            client.get_partitions_ps_with_auth(metastore.database, "t", [], -1, "ada", [])
    else:
        assert len(client.get_partitions_ps_with_auth(metastore.database, "t", [], -1, "ada", [])) == 2
    with pytest.raises(api.MetaException):
        client.get_partition_names_ps(metastore.database, "t", [], -1)


def test_an_empty_list_of_names_finds_nothing(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("the request came with Hive 4")
    metastore.add_partitions(("a", "1"))
    assert _of_request(metastore, partNames=[]).partitions == []
    assert _of_request(metastore, partNames=[], partVals=["a", ""]).partitions == []


def _of_request(metastore: Metastore, **wanted: Any) -> Any:
    request = api.GetPartitionsPsWithAuthRequest(dbName=metastore.database, tblName="t", catName="hive", **wanted)
    return metastore.client().get_partitions_ps_with_auth_req(request)


def test_an_unknown_partition_is_no_such_object(metastore: Metastore) -> None:
    client = metastore.client()
    with pytest.raises(api.NoSuchObjectException):
        client.get_partition(metastore.database, "t", ["nope", "1"])
    with pytest.raises(api.NoSuchObjectException):
        client.get_partition_by_name(metastore.database, "t", "k=nope/j=1")
    with pytest.raises(api.NoSuchObjectException):
        client.drop_partition(metastore.database, "t", ["nope", "1"], True)


def test_an_unknown_table_has_no_partitions(metastore: Metastore) -> None:
    """Hive's generations differ; a list of structs of what is not there is an error here."""
    if metastore.flavour == "hive-4.0":
        assert metastore.client().get_partitions(metastore.database, "nope", -1) == []
        return
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().get_partitions(metastore.database, "nope", -1)


def test_an_unknown_table_has_no_partition_names(metastore: Metastore) -> None:
    """An error in Hive before 4."""
    older = {"hive-2.3": TApplicationException, "hive-3.1": api.NoSuchObjectException}
    if metastore.flavour not in older:
        assert metastore.client().get_partition_names(metastore.database, "nope", -1) == []
        return
    with pytest.raises(older[metastore.flavour]):
        metastore.client().get_partition_names(metastore.database, "nope", -1)


def test_an_alter_replaces_parameters(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"))
    client = metastore.client()
    changed = client.get_partition(metastore.database, "t", ["a", "1"])
    changed.parameters = changed.parameters | {"numRows": "12"}
    context = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    client.alter_partitions_with_environment_context(metastore.database, "t", [changed], context)
    rows = {
        each.values[1]: each.parameters.get("numRows") for each in client.get_partitions(metastore.database, "t", -1)
    }
    assert rows == {"1": "12", "2": None}


def test_a_dropped_partition_is_gone(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"))
    assert metastore.client().drop_partition(metastore.database, "t", ["a", "1"], True)
    assert _names(metastore) == ["k=a/j=2"]


def test_a_name_is_taken_apart(metastore: Metastore) -> None:
    client = metastore.client()
    assert client.partition_name_to_vals("k=a%2Fb/j=1") == ["a/b", "1"]
    assert client.partition_name_to_spec("k=a%2Fb/j=1") == {"k": "a/b", "j": "1"}
    assert client.partition_name_to_vals("K=1/k=2") == ["1", "2"]
    assert client.partition_name_to_spec("K=1/k=2") == {"K": "1", "k": "2"}
