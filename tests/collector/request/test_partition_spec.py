"""Values of partition keys become the texts that the metastore has for them."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.collector.request.partition_spec import KeyValue, as_text, check_spec, pruning_values
from hmstats.errors import StatementError
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.partition_values import matching_names

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
        (Decimal("1.50"), "decimal(5,2)", "1.5"),
        (NULL, "int", NULL),
        ("", "string", NULL),
        ("a", "varchar(3)", "a"),
    ],
)
def test_a_value_has_its_keys_text(value: KeyValue, key_type: str, text: str) -> None:
    assert check_spec("d.t", {"k": value}, [Column("K", key_type)]) == {"k": text}


@pytest.mark.parametrize(
    ("value", "key_type"),
    [("x", "int"), ("1.5", "int"), ("2008-13-01", "date"), ("yes", "boolean"), ("x", "decimal(3,1)"), ("x", "double")],
)
def test_a_value_of_another_type_is_refused(value: str, key_type: str) -> None:
    sentence = r"table d\.t: partition key k is of type .*, which '.*' is no value of"
    with pytest.raises(StatementError, match=sentence) as raised:
        check_spec("d.t", {"k": value}, [Column("k", key_type)])
    assert key_type in str(raised.value)


def test_the_metastore_is_asked_by_what_has_one_text() -> None:
    keys = [Column("ds", "string"), Column("hr", "int"), Column("where", "varchar(9)")]
    assert pruning_values({"ds": "2008-04-09", "hr": "11", "where": "a"}, keys) == ("2008-04-09", "", "a")
    assert pruning_values({"hr": "11"}, keys) == ()
    assert pruning_values({"ds": "2008-04-09", "hr": None, "where": None}, keys) == ("2008-04-09",)
    assert pruning_values({"ds": None, "hr": None}, keys) == ()


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | st.integers(-99, 99)),
    st.lists(st.integers(-99, 99), min_size=3, max_size=3),
)
def test_a_partition_is_found_exactly_when_every_given_value_is_its_own(
    spec: dict[str, int | None], values: list[int]
) -> None:
    keys = [Column(name, "int") for name in "abc"]
    expected = all(value is None or value == values["abc".index(key)] for key, value in spec.items())
    name = partition_name("abc", [as_text(value) for value in values])
    assert matching_names(check_spec("d.t", spec, keys), keys, [name]) == [name] * expected
