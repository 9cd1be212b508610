"""Names: catalog prefixes, lower-casing, partition names."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.names import (
    NULL_PARTITION_VALUE,
    are_normal,
    database_name,
    escape,
    normal_partition_name,
    partition_name,
    partition_spec,
    partition_values,
    split_database,
    table_name,
    unescape,
    values_of_names,
)
from hmstats.model.catalog.objects import DatabaseName, TableName

KEYS = st.lists(st.text("abcxyz_09", min_size=1), min_size=1, max_size=4, unique=True)
VALUES = st.text(st.characters(codec="utf-8"), min_size=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("db", ("hive", "db")),
        ("@cat#db", ("cat", "db")),
        ("@cat#", ("cat", None)),
        ("@cat#!", ("cat", "")),
        ("@a#b#c", ("a", "b#c")),
        ("", ("hive", "")),
    ],
)
def test_a_database_argument_may_carry_a_catalog(text: str, expected: tuple[str, str | None]) -> None:
    assert split_database(text) == expected


def test_a_catalog_marker_without_separator_is_refused() -> None:
    with pytest.raises(MetaError, match="@cat is prepended with the catalog marker"):
        split_database("@cat")


def test_names_are_lower_case_and_the_prefix_wins_over_the_catalog() -> None:
    assert database_name("DB") == DatabaseName("hive", "db")
    assert table_name("@Cat#DB", "TbL", "other") == TableName("cat", "db", "tbl")
    assert table_name("DB", "T", "Other") == TableName("other", "db", "t")


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("a b", "a b"),
        ("a/b", "a%2Fb"),
        ("50%", "50%25"),
        ("x=y", "x%3Dy"),
        ("a:b", "a%3Ab"),
        ("{[]}^", "%7B%5B%5D}%5E"),
        ("tab\there", "tab%09here"),
        ("'\"#*?\\", "%27%22%23%2A%3F%5C"),
        ("\x7f", "%7F"),
        ("żółć", "żółć"),
        ("", NULL_PARTITION_VALUE),
    ],
)
def test_values_are_escaped_as_hive_escapes_them(value: str, escaped: str) -> None:
    assert escape(value) == escaped
    assert unescape(escaped) == (value or NULL_PARTITION_VALUE)


@pytest.mark.parametrize("text", ["%", "%4", "%zz", "100%"])
def test_a_percent_sign_that_escapes_nothing_stays(text: str) -> None:
    assert unescape(text) == text


@given(KEYS, st.data())
def test_a_partition_name_gives_its_values_back(keys: list[str], data: st.DataObject) -> None:
    values = [data.draw(VALUES) for _ in keys]
    name = partition_name(keys, values)
    assert partition_values(name, keys) == tuple(values)
    assert partition_spec(name) == dict(zip(keys, values, strict=True))
    assert normal_partition_name(name, keys) == name
    shuffled = "/".join(reversed(name.split("/")))
    assert normal_partition_name(shuffled, keys) == name


@given(
    keys=st.lists(st.text("kK=%/.", min_size=1, max_size=2), min_size=1, max_size=2, unique_by=str.lower),
    name=st.text("kK=/%41.a\n", max_size=12),
)
def test_any_text_is_normal_just_as_its_values_are(keys: list[str], name: str) -> None:
    """However quickly most names are recognized as normal."""

    def told(normal: Callable[[str], str]) -> str:
        try:
            return normal(name)
        except (InvalidObject, MetaError) as error:
            return repr(error)

    of_values = told(lambda text: partition_name(keys, partition_values(text, keys)))
    assert told(lambda text: normal_partition_name(text, keys)) == of_values


@given(
    keys=st.lists(st.text("kK=%/.", min_size=1, max_size=2), max_size=2, unique_by=str.lower),
    names=st.lists(st.text("kK=/%41.a\n", max_size=12), max_size=3),
    values=st.lists(st.lists(st.text("aK=/%41.\n\r", max_size=4), min_size=2, max_size=2), max_size=3),
)
def test_values_of_many_names_are_those_of_each(keys: list[str], names: list[str], values: list[list[str]]) -> None:
    """Whether the names are in stored form, all or some of them, or not."""
    stored = [partition_name(keys, each[: len(keys)]) for each in values] if keys else []

    def told(read: Callable[[], list[tuple[str, ...]]]) -> object:
        try:
            return read()
        except (InvalidObject, MetaError) as error:
            return repr(error)

    for asked in (stored, [*stored, *names], names):
        of_each = told(lambda asked=asked: [partition_values(name, keys) for name in asked])  # type: ignore[misc]
        assert told(lambda asked=asked: values_of_names(asked, keys)) == of_each  # type: ignore[misc]


def test_a_line_within_a_name_is_no_name() -> None:
    names = ["k=a\nk=b", "K=c"]
    assert values_of_names(names, ["k"]) == [("a\nk=b",), ("c",)]


def test_keys_of_a_partition_name_are_lower_case_and_values_keep_their_case() -> None:
    assert normal_partition_name("Month=Feb/YEAR=1994", ["year", "month"]) == "year=1994/month=Feb"


def test_a_partition_name_without_a_key_is_incomplete() -> None:
    with pytest.raises(InvalidObject, match="incomplete partition name - missing month"):
        partition_values("year=1994", ["year", "month"])


def test_an_empty_partition_name_is_refused() -> None:
    with pytest.raises(MetaError, match=r"Partition name is invalid\. "):
        partition_values("", ["year"])


@pytest.mark.parametrize(("keys", "values"), [(["a"], []), (["a"], ["1", "2"]), ([], [])])
def test_a_partition_needs_one_value_for_each_key(keys: list[str], values: list[str]) -> None:
    with pytest.raises(MetaError, match="Invalid partition key & values"):
        partition_name(keys, values)


@given(KEYS, st.lists(st.one_of(VALUES, st.text("ab=/%\n2F")), min_size=1, max_size=6), st.data())
def test_names_are_normal_together_if_each_is_its_own_stored_form(
    keys: list[str], values: list[str], data: st.DataObject
) -> None:
    escaped = [partition_name(keys, [each or "x"] * len(keys)) for each in values]
    names = [data.draw(st.sampled_from(both)) for both in zip(values, escaped, strict=True)]

    def is_normal(name: str) -> bool:
        try:
            return normal_partition_name(name, keys) == name and "\n" not in name
        except (InvalidObject, MetaError):
            return False

    if are_normal(names, keys):
        assert all(map(is_normal, names))
    assert are_normal(escaped, keys) or any("%" in each for each in escaped)
