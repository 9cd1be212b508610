"""Filters over keys whose values a metastore compares as text, though they are numbers."""

import pytest

from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.filtered_keys import check_filtered_keys

KEYS = (Column("dc", "decimal(5,2)"), Column("db", "double"), Column("ds", "date"), Column("n", "int"))


@pytest.mark.parametrize("where", ["dc='-1.5'", "ds > '2024-01-01' and DC > 1", "n = 1 or (db<2)"])
def test_a_key_of_fractions_is_refused_by_its_name(where: str) -> None:
    with pytest.raises(StatementError, match=r"partition key d[bc] of type .* compares it as text"):
        check_filtered_keys("d.t", where, KEYS)


@pytest.mark.parametrize(
    "where", ["ds = 'dc'", 'ds = "db > 1"', "n > 3 and ds < '2024-01-01'", "ds = 'it\\'s dc'", "dcx = 1"]
)
def test_other_keys_are_not(where: str) -> None:
    check_filtered_keys("d.t", where, KEYS)
