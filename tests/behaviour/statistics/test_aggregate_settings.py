"""Aggregates and merging where the metastore is told to use densities, a tuner, or sketches: ours beside Hive 4.0.1.

Our server uses sketches always, and sends them where it is told to.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from tests.behaviour.statistics.test_aggregates import PARTITIONS, aggregate, update
from tests.behaviour.statistics.test_merging import merge
from tests.behaviour.structs import column_object, of_table, statistics, statistics_of
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.sketch.vectors import of_longs

from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow  # starts a Hive and a server for each setting

SETTINGS: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
    "density": ({"ndv_density_function": True}, ("metastore.stats.ndv.densityfunction=true",)),
    "tuner": ({"ndv_tuner": 0.5}, ("metastore.stats.ndv.tuner=0.5",)),
    "sketches": ({"send_sketches": True}, ("metastore.stats.fetch.bitvector=true", "metastore.stats.fetch.kll=true")),
}
"""What says how distinct values are found: settings of ours, of Hive."""


@contextmanager
def running(
    flavour: str, folders: pytest.TempPathFactory, ours: Mapping[str, object], hives: tuple[str, ...]
) -> Iterator[Metastore]:
    """A metastore with these settings, and in it a table with ten partitions."""
    folder = folders.mktemp(flavour)
    with hive("4.0", folder, *hives) if flavour == "hive-4.0" else serving(folder, settings=ours) as port:
        found = Metastore(flavour, port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(name=found.database, description="", parameters={}))
            found.table(keys=("k",))
            found.add_partitions(*((f"p{number}",) for number in range(10)))
            yield found


def servers(*rules: str) -> list[Any]:
    """A parameter for each flavour and rule."""
    ours = [pytest.param(("hmstats-sqlite", rule), id=f"hmstats-{rule}") for rule in rules]
    return ours + [pytest.param(("hive-4.0", rule), id=f"hive-{rule}", marks=pytest.mark.hive) for rule in rules]


@pytest.fixture(scope="module", params=servers("density", "tuner"))
def guessing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """Metastores that guess distinct values by density, or by the tuner."""
    flavour, rule = request.param
    with running(flavour, tmp_path_factory, *SETTINGS[rule]) as found:
        yield found


@pytest.fixture(scope="module", params=servers("sketches"))
def sketching(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """Metastores that use sketches and send them."""
    flavour, rule = request.param
    with running(flavour, tmp_path_factory, *SETTINGS[rule]) as found:
        yield found


def decimal(number: int) -> Any:
    return api.Decimal(scale=0, unscaled=number.to_bytes(2, "big", signed=True))


def date(days: int) -> Any:
    return api.Date(daysSinceEpoch=days)


BOUNDS: dict[str, Any] = {"l": int, "d": float, "dec": decimal, "dt": date}


@pytest.mark.parametrize("column", list(BOUNDS))
def test_distinct_values_are_guessed_alike(guessing: Metastore, column: str) -> None:
    """20 values from 0 to 200 and 40 from 100 to 500: at their density 50 fit, and 50 is halfway from 40 to 60."""
    bound = BOUNDS[column]
    for number, (low, high, ndv) in enumerate(((0, 200, 20), (100, 500, 40))):
        update(guessing, number, statistics_of(column, lowValue=bound(low), highValue=bound(high), numDVs=ndv))
    assert aggregate(guessing, PARTITIONS[:2], column).numDVs == 50


def test_texts_have_as_many_as_the_largest_partition(guessing: Metastore) -> None:
    for number, ndv in enumerate((20, 40)):
        update(guessing, number, statistics_of("s", numDVs=ndv))
    assert aggregate(guessing, PARTITIONS[:2], "s").numDVs == 40


def test_extrapolated_distinct_values_are_guessed_alike(guessing: Metastore) -> None:
    """The second and the fourth of eight are known: 80 values at their density, 45 halfway from 10 to 80."""
    for number, (low, high) in ((3, (200, 300)), (5, (400, 500))):
        update(guessing, number, statistics_of("d", lowValue=float(low), highValue=float(high), numDVs=10))
    found = aggregate(guessing, PARTITIONS[2:], "d")
    assert (found.lowValue, found.highValue) == (100.0, 900.0)
    assert found.numDVs in (80, 45)


def test_bit_vectors_are_merged(sketching: Metastore) -> None:
    """Hive folds them to 2^10 registers, and sends the first partition's with the number of all."""
    for number in (0, 1):
        vector = of_longs(12, 1000 * number, 1000 * number + 1500).to_bytes()
        data = api.LongColumnStatsData(lowValue=0, highValue=2500, numNulls=0, numDVs=1500, bitVectors=vector)
        update(sketching, number, column_object("l", "bigint", "longStats", data))
    found = aggregate(sketching, PARTITIONS[:2], "l")
    allowed = 0.05 if sketching.ours else 0.1
    assert abs(found.numDVs - 2500) < allowed * 2500
    sent = HiveHll.from_bytes(found.bitVectors).count()
    assert abs(sent - (2500 if sketching.ours else 1500)) < allowed * 2500


def test_merged_bit_vectors_are_merged(sketching: Metastore) -> None:
    sketching.table("merged")
    for start in (0, 50):
        vector = of_longs(12, start, start + 100).to_bytes()
        sent = statistics(sketching, statistics_of("l", numDVs=100, bitVectors=vector), table="merged")
        if start:
            assert merge(sketching, sent)
        else:
            sketching.client().update_table_column_statistics(sent)
    found = of_table(sketching, "l", table="merged")["l"].longStats
    assert found.numDVs == 150
    assert HiveHll.from_bytes(found.bitVectors) == of_longs(12, 0, 150)


def test_bounds_beside_a_partition_without_statistics(sketching: Metastore) -> None:
    """100, 200, 300, and one unknown: Hive, told to fetch sketches, joins neighbours before it draws a line."""
    for number in range(3):
        high = 100 * (number + 1)
        vector = of_longs(12, 0, high).to_bytes()
        data = api.LongColumnStatsData(lowValue=0, highValue=high, numNulls=0, numDVs=high, bitVectors=vector)
        update(sketching, number + 6, column_object("l", "bigint", "longStats", data))
    found = aggregate(sketching, PARTITIONS[6:10], "l")
    assert (found.lowValue, found.highValue) == (0, 400 if sketching.ours else 300)
