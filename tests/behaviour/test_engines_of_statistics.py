"""Statistics by engine: one set of numbers for all, as far as nobody wrote another. Hive has no such thing."""

from typing import Any

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
