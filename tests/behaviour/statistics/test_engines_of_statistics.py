"""Statistics by engine: one set of numbers for all, as far as nobody wrote another. Hive has no such thing."""

from typing import Any

import pytest
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore


def _write(metastore: Metastore, engine: str, ndv: int) -> None:
    sent: Any = statistics(metastore, statistics_of("l", numDVs=ndv))
    sent.engine = engine
    assert metastore.client().update_table_column_statistics(sent)


def test_statistics_of_another_engine_answer(our_metastore: Metastore) -> None:
    our_metastore.table()
    _write(our_metastore, "impala", 5)
    for engine in ("impala", "hive", None):
        assert of_table(our_metastore, "l", engine=engine)["l"].longStats.numDVs == 5


def test_an_empty_engine(metastore: Metastore) -> None:
    """It counts as none, so as `hive`; in Hive 4 it is one of its own."""
    if metastore.generation < 4:
        pytest.skip("Hive before 4 keeps no engines")
    metastore.table()
    _write(metastore, "", 5)
    own = {"hive-4.0": set[str]()}
    assert set(of_table(metastore, "l", engine="hive")) == metastore.expects({"l"}, own)
    assert set(of_table(metastore, "l", engine="")) == {"l"}
    metastore.client().delete_table_column_statistics(metastore.database, "t", "l", "")
    assert of_table(metastore, "l", engine="hive") == of_table(metastore, "l", engine="") == {}


def test_an_engines_own_statistics_come_first(our_metastore: Metastore) -> None:
    our_metastore.table()
    _write(our_metastore, "hive", 1)
    _write(our_metastore, "impala", 2)
    assert of_table(our_metastore, "l", engine="hive")["l"].longStats.numDVs == 1
    assert of_table(our_metastore, "l", engine="impala")["l"].longStats.numDVs == 2


def test_one_engines_statistics_can_be_deleted(our_metastore: Metastore) -> None:
    our_metastore.table()
    _write(our_metastore, "hive", 1)
    _write(our_metastore, "impala", 2)
    our_metastore.client().delete_table_column_statistics(our_metastore.database, "t", "l", "hive")
    assert of_table(our_metastore, "l", engine="hive")["l"].longStats.numDVs == 2
