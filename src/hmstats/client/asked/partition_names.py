"""Finds the stored names of partitions that users name in another spelling."""

from collections.abc import Iterable, Sequence

from hmstats.client.asked.asked_metastore import AskedMetastore
from hmstats.errors import MetastoreError, StatementError
from hmstats.model.catalog.names import normal_partition_name, partition_name, partition_spec
from hmstats.model.catalog.objects import Table
from hmstats.model.partitions.partition_values import matching_names


def existing_names(service: AskedMetastore, table: Table, texts: Iterable[str]) -> list[str]:
    """The stored names of the partitions that are named as key=value/key=value, each once, in the order given.

    If a partition has exactly this name, it is meant; else the one with equal values: month=1 of an int key is the
    partition that is stored as month=01. Raises StatementError if no partition or several ones match, and for a name
    without a value for each key.
    """
    shown, wanted = table.name.typed, list(texts)
    keys = [key.name for key in table.partition_keys]
    if wanted and not keys:
        raise StatementError(f"table {shown} has no partitions, so none is named {wanted[0]}")
    names = list(dict.fromkeys(_normal_name(shown, each, keys) for each in wanted))
    stored = {partition_name(keys, each.values) for each in service.partitions(table.name, names)}
    every = [] if stored >= set(names) else service.partition_names(table.name)
    return list(dict.fromkeys(each if each in stored else _by_values(table, every, each) for each in names))


def _normal_name(shown: str, text: str, keys: Sequence[str]) -> str:
    expected = f"a partition must have a value for each of {', '.join(keys)}, and no more"
    try:
        name = normal_partition_name(text, keys)
    except MetastoreError as error:
        raise StatementError(f"table {shown}: {expected}, found {text!r}") from error
    if len([each for each in text.split("/") if each]) > len(keys):
        raise StatementError(f"table {shown}: {expected}, found {text!r}")
    return name


def _by_values(table: Table, every: Iterable[str], name: str) -> str:
    shown = table.name.typed
    found = matching_names(partition_spec(name), table.partition_keys, every)
    if not found:
        raise StatementError(f"table {shown} has no partition {name}")
    if len(found) > 1:
        raise StatementError(f"table {shown} has {len(found)} partitions with the values of {name}: {', '.join(found)}")
    return found[0]
