"""Sends parcels to a metastore: those just made, and those of a spool folder."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hmstats.client.metastore import Metastore
from hmstats.client.parcel import Item, Parcel
from hmstats.client.spool import Spool
from hmstats.errors import CallRefused, SpoolError
from hmstats.model.catalog import TableName

WHOLE_TABLE = ""
"""Stands for the table itself where a partition's name would."""
Place = tuple[TableName, str]
"""A table with one of its partitions, or WHOLE_TABLE."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a spool folder's file, which is gone when all of it was accepted.

    `newer` are partitions (WHOLE_TABLE: the table itself) that the metastore has newer statistics of; `refused` is
    partition to what it said. `damaged` says why the file cannot be read; nothing of it was sent then.
    """

    file: str
    table: TableName | None = None
    accepted: int = 0
    newer: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    damaged: str | None = None

    @property
    def kept(self) -> bool:
        """Whether the file is still there, with what was not accepted."""
        return bool(self.newer or self.refused or self.damaged)


def put(service: Metastore, parcel: Parcel) -> dict[str, str]:
    """Write a parcel; what the metastore refused, by partition, with what it said.

    A refused parcel is sent again item by item. Raises ServiceUnavailable; what was written then stays, and writing it
    again changes nothing. Parameters go before column statistics: the metastore marks in the parameters which columns
    are accurate, and that mark must not be overwritten with an older one.
    """
    try:
        gone = _put_parameters(service, parcel)
        # Some metastores take statistics of a partition that is not there, and lose them.
        there = tuple(item for item in parcel.items if _key(item) not in gone)
        _put_statistics(service, replace(parcel, items=there))
    except CallRefused as refusal:
        if len(parcel.items) == 1:
            return {_key(parcel.items[0]): refusal.message}
        parts = (put(service, replace(parcel, items=(item,))) for item in parcel.items)
        return {partition: sentence for refused in parts for partition, sentence in refused.items()}
    return {partition: f"table {parcel.table} has no partition {partition}" for partition in gone}


def push_spool(service: Metastore, spool: Spool, *, force: bool = False) -> Iterator[Pushed]:
    """Send the files of a spool folder, in order, and remove what is accepted; what is not stays in its file.

    An item is left out when the metastore has newer statistics of it, unless `force`. Raises ServiceUnavailable and
    SpoolError; what was not sent by then is still there.
    """
    sent: set[Place] = set()
    for name in spool.names():
        try:
            parcel = spool.get(name)
        except SpoolError as error:
            yield Pushed(name, damaged=str(error))
            continue
        newer: set[str] = set() if force else _newer(service, parcel, sent)
        wanted = [item for item in parcel.items if _key(item) not in newer]
        refused = put(service, replace(parcel, items=tuple(wanted))) if wanted else {}
        sent.update((parcel.table, _key(item)) for item in wanted)
        _keep(spool, name, parcel, {*newer, *refused})
        yield Pushed(name, parcel.table, len(wanted) - len(refused), tuple(sorted(newer)), refused)


def _put_parameters(service: Metastore, parcel: Parcel) -> set[str]:
    """The partitions that are not there."""
    if parcel.of_table:
        service.put_table_parameters(parcel.table, parcel.items[0].parameters)
        return set()
    by_partition = {_key(item): item.parameters for item in parcel.items}
    return service.put_partition_parameters(parcel.table, parcel.keys, by_partition)


def _put_statistics(service: Metastore, parcel: Parcel) -> None:
    sets = [item.statistics for item in parcel.items if item.statistics.columns]
    if not sets:
        return
    if parcel.of_table:
        service.put_table_statistics(parcel.table, sets[0])
    else:
        service.put_partition_statistics(parcel.table, sets)


def _newer(service: Metastore, parcel: Parcel, sent: set[Place]) -> set[str]:
    """The items of a parcel of which the metastore has statistics that were written after the parcel was made.

    What was just sent from the same spool folder is not newer.
    """
    asked = [item for item in parcel.items if (parcel.table, _key(item)) not in sent and item.statistics.columns]
    if not asked:
        return set()
    columns = sorted({column.column for item in asked for column in item.statistics.columns})
    partitions = None if parcel.of_table else [_key(item) for item in asked]
    try:
        written = service.written_at_seconds(parcel.table, columns, partitions)
    except CallRefused:  # the table is gone, say; what is sent will be refused too, and the reason named
        return set()
    return {place or WHOLE_TABLE for place, seconds in written.items() if seconds > parcel.made_at_seconds}


def _keep(spool: Spool, name: str, parcel: Parcel, kept: Collection[str]) -> None:
    """Leave these items in a file, and no file without any."""
    items = tuple(item for item in parcel.items if _key(item) in kept)
    if not items:
        spool.remove(name)
    elif len(items) < len(parcel.items):
        spool.put(name, replace(parcel, items=items))


def _key(item: Item) -> str:
    return item.partition or WHOLE_TABLE
