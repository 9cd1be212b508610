"""Locations are read as Hadoop reads them, however they are written."""

import pytest

from hmstats.model.catalog.location import Location, below, is_same_location, outermost, parse, qualify


@pytest.mark.parametrize(
    "text", ["/a/b", "file:/a/b", "file:///a/b", "file://localhost/a/b", "FILE:/a/b/", "/a//./c/../b"]
)
def test_every_spelling_of_a_local_path_is_one_location(text: str) -> None:
    assert parse(text) == Location("file", "", "/a/b")


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3A"])
def test_clients_of_one_store_name_one_location(scheme: str) -> None:
    assert parse(f"{scheme}://lake/a/b/") == Location("s3", "lake", "/a/b")
    assert parse(f"{scheme}://lake") == parse(f"{scheme}://lake/") == Location("s3", "lake", "/")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gs://lake/a", "GS://lake/a/"),
        ("gs://lake/a", "gs://lake//a/."),
        ("abfss://c@account.dfs.core.windows.net/a", "abfs://c@account.dfs.core.windows.net/a/"),
        ("wasbs://c@account.blob.core.windows.net/a", "wasb://c@account.blob.core.windows.net/a/"),
        ("hdfs://node:8020/a/b", "HDFS://node:8020/a/../a/b/"),
        ("oss://lake/a", "oss://lake/a/"),
    ],
)
def test_every_spelling_in_a_store_is_one_location(one: str, other: str) -> None:
    assert is_same_location(one, other)
    assert one in parse(other).spellings()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("oss://lake/a", "s3://lake/a"),
        ("hdfs://node:8020/a", "hdfs://other:8020/a"),
        ("abfss://c@account/a", "abfss://d@account/a"),
        ("gs://lake/a", "gs://lake/A"),
    ],
)
def test_other_places_are_other_locations(one: str, other: str) -> None:
    assert not is_same_location(one, other)


def test_stores_and_buckets_differ() -> None:
    assert not is_same_location("s3://lake/a", "gs://lake/a")
    assert not is_same_location("s3://lake/a", "s3://sea/a")
    assert is_same_location("abfs://c@account/a", "abfss://c@account/a")
    assert not is_same_location(None, None)


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%2Fb", "a b", "k=x:y", "ä"])
def test_no_character_of_a_name_ends_a_path(name: str) -> None:
    for text in (f"/w/{name}/c", f"file:/w/{name}/c", f"s3://w/{name}/c"):
        assert parse(text).path.endswith(f"{name}/c")
        assert parse(text).parent.name == name


def test_a_directory_holds_what_lies_in_it() -> None:
    assert parse("/a").holds(parse("file:///a/b/c"))
    assert parse("s3://lake").holds(parse("s3a://lake/a"))
    assert not parse("/a").holds(parse("/a"))
    assert not parse("/a").holds(parse("/ab"))
    assert not parse("/a/b").holds(parse("/a/b/../c"))
    assert not parse("/a").holds(parse("s3://lake/a/b"))


def test_a_path_without_a_slash_is_relative() -> None:
    assert not parse("a/b").is_absolute
    assert parse("a/b").parents() == []
    assert not parse("/").holds(parse("a/b"))


def test_what_lies_above() -> None:
    assert [str(each) for each in parse("/a/b/c").parents()] == ["file:/a/b", "file:/a"]
    assert parse("s3://lake").parents() == []
    assert parse("/..").is_root


def test_the_spellings_of_a_location_are_that_location() -> None:
    for text in ("/a/b", "s3n://lake/a", "s3://lake", "hdfs://node:8020/a", "abfs://c@account/a"):
        assert {parse(each) for each in parse(text).spellings()} == {parse(text)}
    assert parse("s3n://lake/a").spellings() == ["s3://lake/a", "s3a://lake/a", "s3n://lake/a"]


def test_the_outermost_of_many() -> None:
    texts = ["/a-b/c", "/a/b", "/a", "s3://lake/a", "s3a://lake/a/b", "file:/a/b/c"]
    assert [str(each) for each in outermost(map(parse, texts))] == ["file:/a", "file:/a-b/c", "s3://lake/a"]


def test_a_location_gets_a_scheme_and_loses_its_last_slash() -> None:
    assert [qualify(each) for each in ("/a/", "file:///a/./b", "s3a://lake/a//", "/", "a/b/")] == [
        "file:/a",
        "file:/a/b",
        "s3a://lake/a",
        "file:/",
        "a/b/",
    ]
    assert below("s3a://lake/a/", "b") == "s3a://lake/a/b"
