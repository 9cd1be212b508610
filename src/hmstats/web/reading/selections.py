"""Partitions that a question is about: a range of names in the order of the keys' values, or a filter, or all."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.client import Metastore
from hmstats.client.asked.asked_table import AskedTable
from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import Table
from hmstats.outlets.people.times import past_ms
from hmstats.web.answers.tables import Chosen
from hmstats.web.reading.partition_order import NamedPartition, in_order, partitions_between


@dataclass(frozen=True, slots=True)
class Selection:
    """`first` and `last` are names of partitions, both included; `where` is a filter in Hive's language.

    `as_of` is the time whose statistics are wanted, None for the current ones. Partitions are selected among the
    current ones.
    """

    first: str | None = None
    last: str | None = None
    where: str | None = None
    as_of: str | None = None

    @property
    def as_of_ms(self) -> int | None:
        """The time in epoch ms. Raises StatementError for an invalid text."""
        return None if self.as_of is None else past_ms("as_of", self.as_of, time.time())

    @property
    def is_all(self) -> bool:
        """Whether it is the whole table."""
        return not (self.first or self.last or self.where)


def select_partitions(service: Metastore, table: Table, selection: Selection) -> Sequence[NamedPartition]:
    """The selected partitions in order.

    Raises StatementError when the filter cannot be read, NoSuchObject when nothing is selected.
    """
    if selection.is_all:
        return in_order(table, service.partition_names(table.name))
    if not table.partition_keys:
        raise NoSuchObject(f"table {table.name.typed} has no partitions to select")
    if selection.where:
        names = AskedTable(service, table).partition_names(where=selection.where) or []
    else:
        names = service.partition_names(table.name)
    found: Sequence[NamedPartition] = in_order(table, names)
    if found and (selection.first or selection.last):
        found = partitions_between(found, selection.first or found[0].name, selection.last or found[-1].name)
    if not found:
        raise NoSuchObject(f"no partition of table {table.name.typed} is selected")
    return found


def describe_selection(selection: Selection, found: Sequence[NamedPartition]) -> Chosen | None:
    """The description of a selection in an answer; None when it is the whole table."""
    if selection.is_all or not found:
        return None
    return Chosen(partitions=len(found), first=found[0].name, last=found[-1].name, where=selection.where)
