"""Values of partition keys become the texts that the metastore has for them."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.collector.partition_spec import KeyValue, as_text, checked, matches, pruning_values
from hmstats.errors import StatementError
from hmstats.model.catalog import Column

NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize(
    ("value", "key_type", "text"),
    [
        ("2008-04-09", "string", "2008-04-09"),
        ("011", "string", "011"),
        ("011", "int", "11"),
        (11, "bigint", "11"),
        (11, "string", "11"),
        ("-0", "tinyint", "0"),
        (date(2008, 4, 9), "date", "2008-04-09"),
        ("2008-4-9", "date", "2008-04-09"),
        ("TRUE", "boolean", "true"),
        (False, "boolean", "false"),
        (Decimal("1.50"), "decimal(5,2)", "1.50"),
        (NULL, "int", NULL),
        ("", "string", NULL),
        ("a", "varchar(3)", "a"),
    ],
)
def test_a_value_has_its_keys_text(value: KeyValue, key_type: str, text: str) -> None:
    assert checked({"k": value}, [Column("K", key_type)]) == {"k": text}


@pytest.mark.parametrize(
    ("value", "key_type"),
    [("x", "int"), ("1.5", "int"), ("2008-13-01", "date"), ("yes", "boolean"), ("x", "decimal(3,1)"), ("x", "double")],
)
def test_a_value_of_another_type_is_refused(value: str, key_type: str) -> None:
    with pytest.raises(StatementError, match=r"partition key k is of type .*, which '.*' is no value of") as raised:
        checked({"k": value}, [Column("k", key_type)])
    assert key_type in str(raised.value)


def test_the_metastore_is_asked_by_what_has_one_text() -> None:
    keys = [Column("ds", "date"), Column("hr", "int"), Column("rate", "decimal(3,2)")]
    assert pruning_values({"ds": "2008-04-09", "hr": "11"}, keys) == ("2008-04-09", "11")
    assert pruning_values({"hr": "11"}, keys) == ("", "11")
    assert pruning_values({"ds": "2008-04-09", "hr": None, "rate": "1.5"}, keys) == ("2008-04-09",)
    assert pruning_values({"ds": None, "hr": None}, keys) == ()


def test_what_has_many_texts_is_compared_by_its_value() -> None:
    keys = [Column("rate", "decimal(3,2)"), Column("at", "timestamp")]
    spec = {"rate": "1.5", "at": "2020-01-01 10:00:00"}
    assert matches(spec, keys, ["1.50", "2020-01-01 10:00:00.0"])
    assert matches({"rate": None}, keys, [NULL, "?"])
    assert not matches(spec, keys, ["1.51", "2020-01-01 10:00:00"])
    assert not matches(spec, keys, ["1.50", "2020-01-01 10:00:00.5"])
    assert not matches(spec, keys, [NULL, "2020-01-01 10:00:00"])
    assert not matches(spec, keys, ["no number", "2020-01-01 10:00:00"])


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | st.integers(-99, 99)),
    st.lists(st.integers(-99, 99), min_size=3, max_size=3),
)
def test_a_partition_is_found_exactly_when_every_given_value_is_its_own(
    spec: dict[str, int | None], values: list[int]
) -> None:
    keys = [Column(name, "int") for name in "abc"]
    expected = all(value is None or value == values["abc".index(key)] for key, value in spec.items())
    assert matches(checked(spec, keys), keys, [as_text(value) for value in values]) is expected
