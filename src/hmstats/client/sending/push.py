"""Sends parcels to a metastore: new ones, and those of a spool folder."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hmstats.client.metastore import Metastore
from hmstats.client.sending.parcel import Item, Parcel
from hmstats.client.sending.spool import Spool
from hmstats.errors import CallRefused, SpoolError
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER

WHOLE_TABLE = ""
"""The name of the table itself, in place of a partition's."""
Place = tuple[TableName, str]
"""A table with one of its partitions, or WHOLE_TABLE."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The outcome of sending a spool folder's file, which is removed if all of it was accepted.

    `newer` are the partitions (WHOLE_TABLE: the table itself) with newer statistics in the metastore; `refused` is
    partition to the metastore's message. `damaged` is why the file cannot be read; nothing of it was sent then.
    """

    file: str
    table: TableName | None = None
    accepted: int = 0
    newer: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    damaged: str | None = None

    @property
    def kept(self) -> bool:
        """Whether the file still exists, with the items that were not accepted."""
        return bool(self.newer or self.refused or self.damaged)


def put(service: Metastore, parcel: Parcel) -> dict[str, str]:
    """Write a parcel; returns the refused partitions with the metastore's messages.

    hmstats takes all of it in one transaction. A refused parcel is sent again in halves, so that only the refused items
    are lost. Raises ServiceUnavailable; written items stay, and writing them again is safe.
    """
    try:
        if _put_together(service, parcel):
            return {}
        gone = _put_in_turn(service, parcel)
    except CallRefused as refusal:
        if len(parcel.items) == 1:
            return {_key(parcel.items[0]): refusal.message}
        middle = len(parcel.items) // 2
        halves = (parcel.items[:middle], parcel.items[middle:])
        return {key: sentence for half in halves for key, sentence in put(service, replace(parcel, items=half)).items()}
    return {partition: f"table {parcel.table} has no partition {partition}" for partition in gone}


def push_spool(service: Metastore, spool: Spool, *, force: bool = False) -> Iterator[Pushed]:
    """Send the files of a spool folder, in order; accepted items are removed, others stay in their file.

    An item is skipped if the metastore has newer statistics, unless `force`. Raises ServiceUnavailable and SpoolError;
    items that were not sent stay in the folder.
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


def _put_together(service: Metastore, parcel: Parcel) -> bool:
    """Write a parcel in one transaction; False if the metastore cannot."""
    sets = [item.statistics for item in parcel.items]
    return service.put_together(parcel.table, sets, {item.partition: item.parameters for item in parcel.items})


def _put_in_turn(service: Metastore, parcel: Parcel) -> set[str]:
    """Write a parcel to a Hive Metastore; returns the partitions that do not exist.

    Parameters are written before column statistics, since the metastore marks accurate columns in a parameter, which
    must not be overwritten with an older one. A mark in the parcel itself, or its removal, is written last.
    """
    gone = _put_parameters(service, parcel)
    # Some metastores accept statistics of a missing partition, and lose them.
    there = tuple(item for item in parcel.items if _key(item) not in gone)
    _put_statistics(service, replace(parcel, items=there))
    marked = tuple(
        Item(item.statistics, {PARAMETER: item.parameters[PARAMETER]})
        for item in there
        if item.statistics.columns and PARAMETER in item.parameters
    )
    if marked:
        _put_parameters(service, replace(parcel, items=marked))
    return gone


def _put_parameters(service: Metastore, parcel: Parcel) -> set[str]:
    """Write the parameters; returns the partitions that do not exist."""
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

    Items that were just sent from the same spool folder do not count.
    """
    asked = [item for item in parcel.items if (parcel.table, _key(item)) not in sent and item.statistics.columns]
    if not asked:
        return set()
    columns = sorted({column.column for item in asked for column in item.statistics.columns})
    partitions = None if parcel.of_table else [_key(item) for item in asked]
    try:
        written = service.written_at_seconds(parcel.table, columns, partitions)
    except CallRefused:  # for example since the table is gone; the write will be refused too, with the reason
        return set()
    return {place or WHOLE_TABLE for place, seconds in written.items() if seconds > parcel.made_at_seconds}


def _keep(spool: Spool, name: str, parcel: Parcel, kept: Collection[str]) -> None:
    """Rewrite a file with these items only; remove it if there are none."""
    items = tuple(item for item in parcel.items if _key(item) in kept)
    if not items:
        spool.remove(name)
    elif len(items) < len(parcel.items):
        spool.put(name, replace(parcel, items=items))


def _key(item: Item) -> str:
    return item.partition or WHOLE_TABLE
