"""The distinct values of all partitions together, on TPC-H's lineitem: as near as the sketches allow."""

from statistics import median

import pytest
from scripts.union_accuracy import MANY, Union, compare, lineitem

STANDARD_ERROR = 1.04 / 2**6


@pytest.fixture(scope="module")
def unions(tmp_path_factory: pytest.TempPathFactory) -> list[Union]:
    folder = tmp_path_factory.mktemp("lineitem")
    return compare(lineitem(folder, "0.02"), folder)


@pytest.mark.slow
def test_every_column_is_within_three_standard_errors(unions: list[Union]) -> None:
    assert len(unions) == 16
    for each in unions:
        assert each.error < 3 * STANDARD_ERROR, each


def test_half_of_them_are_within_a_hundredth_and_a_half(unions: list[Union]) -> None:
    many = [each.error for each in unions if each.exact > MANY]
    assert len(many) >= 6
    assert median(many) < 0.015


def test_the_largest_partition_knows_far_less(unions: list[Union]) -> None:
    keys = {each.column: each.largest_error for each in unions}
    assert keys["l_orderkey"] > 0.9
    assert keys["l_comment"] > 0.9
