"""A table and a partitioned one with statistics of every kind, for clients that only read."""

from tests.behaviour.structs import STRUCTS, statistics, statistics_of
from tests.fixtures.metastores import Metastore

PARTITIONS = ("k=a%2Fb/j=1", "k=c/j=2")


def fill(metastore: Metastore) -> None:
    """Make `plain` and `parted`."""
    client = metastore.client()
    metastore.table("plain", parameters={"numRows": "12"})
    client.update_table_column_statistics(statistics(metastore, *map(statistics_of, STRUCTS), table="plain"))
    metastore.table("parted", keys=("k", "j"))
    metastore.add_partitions(("a/b", "1"), ("c", "2"), table="parted")
    for name in PARTITIONS:
        sent = statistics(metastore, statistics_of("l"), statistics_of("dec"), partition=name, table="parted")
        client.update_partition_column_statistics(sent)
