"""Rows, files and bytes of partitioned tables that do not state them: the sums of their partitions.

They are computed for an answer (partition_sums.py) and never stored (computed.py). The last answers are cached, to
recognise them if a client writes the table back without the marker. A client reads and writes over one
connection, which one process serves.
"""

from collections import OrderedDict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from hmstats.model.catalog.objects import Table
from hmstats.model.parameters.computed import MARKER, marker, without_answered, without_marked, without_marker
from hmstats.service.statistics.reading.partition_sums import PartitionSums
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_sizes
from hmstats.store.unit.unit import Connection

_MOST_TABLES = 10_000
_MOST_ANSWERS = 8
"""Most different answers cached for a table."""


class TableSizes:
    """Adds sizes to tables, and removes them from tables that clients write back. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._sums = PartitionSums(store)
        self._answers: OrderedDict[int, deque[Mapping[str, str]]] = OrderedDict()
        self._lock = Lock()

    def with_sizes(self, tables: Sequence[Table]) -> list[Table]:
        """The tables, with the sizes that they do not state and every one of their partitions does."""
        tables = [_without_stored_sums(each) for each in tables]
        table_ids = [each.id for each in tables if each.id is not None and _lacks_sizes(each)]
        sums = self._sums.read(table_ids) if table_ids else {}
        return [self._with_sizes(each, sums.get(each.id or 0, {})) for each in tables]

    def without_computed(self, connection: Connection, stored: Table, given: Table, own: Collection[str] = ()) -> Table:
        """The table that a client writes over the stored one, without sizes copied from an answer.

        `own` are parameters that the client sets itself; they stay.
        """
        if (
            stored.id is None
            or not stored.partition_keys
            or not any(_is_new(key, stored, given) for key in partition_sizes.KEYS)
        ):
            return given
        current = partition_sizes.of_tables(connection, [stored.id]).get(stored.id, {})
        with self._lock:
            answers = [_texts(current), *self._answers.get(stored.id, ())]
        return replace(given, parameters=without_answered(given.parameters, stored.parameters, answers, own))

    def _with_sizes(self, table: Table, sums: Mapping[str, int]) -> Table:
        missing = {key: text for key, text in _texts(sums).items() if key not in table.parameters}
        if not missing or table.id is None:
            return table
        with self._lock:
            self._remember(table.id, missing)
        storage = table.storage and replace(table.storage, parameters={**table.storage.parameters, **marker(missing)})
        return replace(table, parameters={**table.parameters, **missing}, storage=storage)

    def _remember(self, table_id: int, answer: Mapping[str, str]) -> None:
        answers = self._answers.setdefault(table_id, deque(maxlen=_MOST_ANSWERS))
        if answer in answers:
            answers.remove(answer)
        answers.append(answer)
        self._answers.move_to_end(table_id)
        if len(self._answers) > _MOST_TABLES:
            self._answers.popitem(last=False)


def _without_stored_sums(table: Table) -> Table:
    """The table without computed sizes that a client has stored through a Hive Metastore beside this server."""
    if table.storage is None or MARKER not in table.storage.parameters:
        return table
    storage = replace(table.storage, parameters=without_marker(table.storage.parameters))
    return replace(table, parameters=without_marked(table.parameters, table.storage.parameters), storage=storage)


def _lacks_sizes(table: Table) -> bool:
    return bool(table.partition_keys) and any(key not in table.parameters for key in partition_sizes.KEYS)


def _is_new(key: str, stored: Table, given: Table) -> bool:
    return key in given.parameters and key not in stored.parameters


def _texts(sizes: Mapping[str, int]) -> dict[str, str]:
    return {key: str(size) for key, size in sizes.items()}
