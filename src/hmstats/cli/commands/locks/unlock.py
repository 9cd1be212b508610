"""`hmstats unlock`: let statistics be written again."""

from hmstats.cli.options import AsJson, Columns, Locked, PartitionNames, Server


def unlock(
    of: Locked,
    partition: PartitionNames = None,
    columns: Columns = None,
    *,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Remove the locks of a database, a table or partitions, and of its columns; with --columns only of these.

    Locks of what is inside of it stay: `hmstats locked` lists them.
    """
    from hmstats.cli.actions.locks.lock import unlock_statistics

    unlock_statistics(of, partitions=partition, columns=columns, metastore=metastore, as_json=as_json)
