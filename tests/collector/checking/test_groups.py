"""What row groups say of all rows: the interval holds the truth as often as it says."""

import numpy as np
import pytest

from hmstats.collector.checking.groups import LEAST_UNITS, STATISTICS, GroupSums, of_rows

NULLS = "nulls"


def sums(wholes: list[float], parts: list[float]) -> GroupSums:
    """Of one column, every statistic of which has these wholes and parts."""
    found = GroupSums.empty(1)
    for whole, part in zip(wholes, parts, strict=True):
        found = found.merge(GroupSums.of(np.array([[[whole]] * len(STATISTICS), [[part]] * len(STATISTICS)])))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("picked", [20, 60, 150])
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3])
def test_the_truth_is_within_in_997_of_1000_samples(picked: int, spread: float) -> None:
    random = np.random.default_rng(7)
    groups = 200
    rows = random.integers(500, 1_500, groups)
    nulls = random.binomial(rows, np.clip(random.normal(0.3, spread, groups), 0, 1))
    truth, missed, widths = nulls.sum() / rows.sum(), 0, []
    for _ in range(300):
        some = random.choice(groups, picked, replace=False)
        interval = sums(rows[some].tolist(), nulls[some].tolist()).ratio(NULLS, 0, rows[some].sum() / rows.sum())
        assert interval is not None
        missed += not interval[0] <= truth <= interval[1]
        widths.append(interval[1] - interval[0])
    assert missed <= 4
    assert max(widths) < 10 * spread / np.sqrt(picked) + 0.04


def test_few_groups_say_nothing() -> None:
    assert sums([10.0] * (LEAST_UNITS - 1), [1.0] * (LEAST_UNITS - 1)).ratio(NULLS, 0, 0.5) is None
    assert sums([0.0] * LEAST_UNITS, [0.0] * LEAST_UNITS).ratio(NULLS, 0, 0.5) is None
    assert of_rows(0.5, 1.0, LEAST_UNITS - 1, 0.5) is None


def test_what_no_group_has_some_other_may_have() -> None:
    none = sums([10.0] * 40, [0.0] * 40).ratio(NULLS, 0, 0.5)
    every = sums([10.0] * 40, [10.0] * 40).ratio(NULLS, 0, 0.5)
    assert none is not None
    assert every is not None
    assert none[0] == 0
    assert 0.997 == pytest.approx(1 - (1 - none[1]) ** 40)
    assert every == pytest.approx((1 - none[1], 1))
    assert of_rows(0.0, 1.0, 40, 0.5) == none


def test_lengths_have_no_upper_end() -> None:
    long = sums([10.0] * 30, [float(100 + 900 * (place % 2)) for place in range(30)]).ratio("average_length", 0, 0.1)
    assert long is not None
    assert long[0] < 55 < long[1]
    same = sums([10.0] * 30, [40.0] * 30).ratio("average_length", 0, 0.1)
    assert same == (4.0, 4.0)


def test_merged_sums_are_those_of_all_groups() -> None:
    one, other = sums([10.0, 20.0], [1.0, 2.0]), sums([30.0], [3.0])
    both = one.merge(other)
    assert both.units == 3
    assert (both.sums == sums([10.0, 20.0, 30.0], [1.0, 2.0, 3.0]).sums).all()
    assert (both.merge(GroupSums.empty(1)).sums == both.sums).all()


def test_rows_that_were_picked_one_by_one() -> None:
    random = np.random.default_rng(3)
    values = random.random(10_000) < 0.2
    missed = 0
    for _ in range(300):
        some = random.choice(values, 1_000, replace=False)
        interval = of_rows(float(some.mean()), 1.0, 1_000, 0.1)
        assert interval is not None
        missed += not interval[0] <= values.mean() <= interval[1]
    assert missed <= 2
