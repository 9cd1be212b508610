"""`hmstats unlock`: let statistics be written again."""

from hmstats.cli.options import Columns, Locked, LockedPartition, Server


def unlock(of: Locked, partition: LockedPartition = None, columns: Columns = None, *, metastore: Server = None) -> None:
    """Remove the locks of a database, a table or a partition, and of its columns; with --columns only of these.

    Locks of what is inside of it stay: `hmstats locked` lists them.
    """
    from hmstats.cli.actions.locks.lock import unlock_statistics

    unlock_statistics(of, partition=partition, columns=columns, metastore=metastore)
