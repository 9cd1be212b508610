"""What a metastore answers of values that nobody has set: write ids without transactions, the kind of a database."""

from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

UNSET = -1
"""A write id that is not answered, as clients read it."""


def test_the_write_id_of_what_no_transaction_has_written(metastore: Metastore) -> None:
    """Hive 4.0 answers 0 of tables alone, hmstats of partitions too; older Hives answer none."""
    metastore.table(keys=["k"])
    metastore.add_partitions(["x"])
    (partition,) = metastore.client().get_partitions(metastore.database, "t", -1)
    found = (metastore.read_table().writeId, partition.writeId)
    older = dict.fromkeys(("hive-2.3", "hive-3.1"), (UNSET, UNSET))
    assert found == metastore.expects((0, 0), {**older, "hive-4.0": (0, UNSET)})


def test_the_kind_of_a_database(metastore: Metastore) -> None:
    """Hives before 4 know none."""
    found = metastore.client().get_database(metastore.database).type
    assert found == metastore.expects(api.DatabaseType.NATIVE, dict.fromkeys(("hive-2.3", "hive-3.1")))
