"""Partition values are compared by what they mean; of each type one value has several texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.partition_values import (
    canonical_value,
    matching_names,
    names_by_spec,
    partition_identity,
    value_identity,
)

NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize(
    ("key_type", "texts", "canonical"),
    [
        ("int", ["1", "01", "+1", " 1 "], "1"),
        ("bigint", ["-0", "0", "000"], "0"),
        ("tinyint", ["-07"], "-7"),
        ("decimal(5,2)", ["1.50", "1.5", "01.500", "15E-1"], "1.5"),
        ("decimal(5,2)", ["-0.00", "0", ".0"], "0"),
        ("decimal(38,0)", ["100", "1E2", "100."], "100"),
        ("double", ["1", "1.0", "1e0"], "1.0"),
        ("double", ["-0.0", "0"], "0.0"),
        ("float", ["NaN", "nan"], "NaN"),
        ("double", ["inf", "Infinity", "1e999"], "Infinity"),
        ("boolean", ["TRUE", "true"], "true"),
        ("date", ["2024-01-05", "2024-1-5"], "2024-01-05"),
        ("timestamp", ["2024-01-05 10:00:00", "2024-1-5 10:00:00.0", "2024-01-05T10:00"], "2024-01-05 10:00:00"),
        ("timestamp", ["2024-01-05", "2024-01-05 00:00:00.000000"], "2024-01-05 00:00:00"),
        ("timestamp", ["2024-01-05 10:00:00.50", "2024-01-05 10:00:00.5000001"], "2024-01-05 10:00:00.5"),
        ("timestamp_ntz", ["2024-01-05 10:00:00.000010"], "2024-01-05 10:00:00.00001"),
        ("char(3)", ["a", "a  "], "a"),
        ("string", ["01"], "01"),
        ("varchar(3)", ["a "], "a "),
        ("int", [NULL], NULL),
    ],
)
def test_all_texts_of_a_value_have_one_canonical_text(key_type: str, texts: list[str], canonical: str) -> None:
    assert {canonical_value(text, key_type) for text in texts} == {canonical}


@pytest.mark.parametrize(
    ("key_type", "text"),
    [
        ("int", "x"),
        ("int", "1.5"),
        ("int", "1_000"),
        ("int", "\N{ARABIC-INDIC DIGIT ONE}"),
        ("int", ""),
        ("decimal(5,2)", "sNaN"),
        ("double", "one"),
        ("boolean", "yes"),
        ("date", "2024-02-30"),
        ("date", "2024-01-05 10:00:00"),
        ("timestamp", "2024-01-05 25:00:00"),
        ("timestamp", "now"),
    ],
)
def test_a_text_of_no_value_is_refused_and_is_its_own_identity(key_type: str, text: str) -> None:
    with pytest.raises(ValueError, match="is no value of type"):
        canonical_value(text, key_type)
    assert value_identity(text, key_type) == text


def test_a_partition_is_found_by_any_text_of_its_values() -> None:
    keys = [Column("Day", "date"), Column("month", "int"), Column("city", "string")]
    name, other = "Day=2024-01-05/month=01/city=01", "Day=2024-01-05/month=2/city=x"
    specs: list[dict[str, str | None]] = [
        {"day": "2024-1-5", "month": "1"},
        {"month": None},
        {"city": "1"},
        {"month": NULL},
        {},
        {"day": "2024-01-05"},
    ]
    found = names_by_spec(specs, keys, [name, other])
    assert found == [[name], [name, other], [], [], [name, other], [name, other]]
    assert matching_names({"city": "01"}, keys, [name, other]) == [name]
    assert partition_identity(keys, ["2024-01-05", "01", "01"]) == ("2024-01-05", "1", "01")


def test_names_are_matched_by_their_values() -> None:
    keys = [Column("month", "int"), Column("city", "string")]
    names = ["month=01/city=a%2Fb", "month=1/city=c", "month=2/city=a%2Fb", "month=x/city=c"]
    assert matching_names({"month": "1"}, keys, names) == names[:2]
    assert matching_names({"month": "001", "city": "a/b"}, keys, names) == names[:1]
    assert matching_names({"month": "x"}, keys, names) == names[3:]
    assert matching_names({}, keys, names) == names


@given(st.integers(), st.integers(0, 5))
def test_zeros_before_a_whole_number_change_nothing(number: int, zeros: int) -> None:
    text = f"{'-' if number < 0 else ''}{'0' * zeros}{abs(number)}"
    assert canonical_value(text, "bigint") == str(number)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6), st.integers(0, 5))
def test_zeros_after_a_decimal_change_nothing(number: object, zeros: int) -> None:
    text = format(number, "f")
    assert canonical_value(f"{text}{'0' * zeros}", "decimal(38,11)") == canonical_value(text, "decimal(38,6)")


@given(st.datetimes())
def test_a_timestamps_canonical_text_is_read_as_itself(moment: object) -> None:
    once = canonical_value(str(moment), "timestamp")
    assert canonical_value(once, "timestamp") == once
