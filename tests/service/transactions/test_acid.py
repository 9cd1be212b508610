"""Which transactional tables are taken, and who may read them."""

import pytest

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Table, TableName
from hmstats.service.transactions.acid import check_readable, check_transactional, is_insert_only

INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


def table(parameters: dict[str, str], table_type: str = "MANAGED_TABLE") -> Table:
    return Table(name=TableName("hive", "d", "t"), parameters=parameters, table_type=table_type)


@pytest.mark.parametrize(
    "parameters", [{}, {"transactional": "FALSE"}, INSERT_ONLY, {"Transactional": "TRUE", **INSERT_ONLY}]
)
def test_tables_that_are_taken(parameters: dict[str, str]) -> None:
    check_transactional(table(parameters))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"transactional": "true"}, "hive.d.t cannot be transactional"),
        ({"TRANSACTIONAL": "True", "transactional_properties": "default"}, "cannot be transactional"),
        ({"transactional": "yes"}, "may only have value 'true': hive.d.t, found yes"),
        ({"EXTERNAL": "TRUE", **INSERT_ONLY}, "because it's an external table"),
    ],
)
def test_tables_that_are_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(MetaError, match=message):
        check_transactional(table(parameters))


def test_an_external_table_is_refused() -> None:
    with pytest.raises(MetaError, match="external"):
        check_transactional(table(INSERT_ONLY, "EXTERNAL_TABLE"))


def test_readers_say_that_they_can_read_insert_only_tables() -> None:
    assert is_insert_only(table(INSERT_ONLY))
    check_readable(table(INSERT_ONLY), [1, 2])
    check_readable(table({}), [])
    with pytest.raises(MetaError, match=r"Your client does not appear to support insert-only tables, and hive\.d\.t"):
        check_readable(table(INSERT_ONLY), [1])
