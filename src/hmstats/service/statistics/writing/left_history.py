"""The history of a plain write: the values that it stores, so that the next write need not copy the replaced rows.

A write copies the rows that it replaces unless this process has written all of them before, and the table still has
the definition of that write: then every write since has said what it stored (store/history/replay.py). Each day, and
after some writes, the rows are copied again, so that old days can be thinned each for itself, and few writes need be
looked at.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.statistics_by_field import StatisticsByField
from hmstats.service.statistics.writing.last_written import Owners, Rows, Told
from hmstats.store.history.purge import DAY_MS
from hmstats.store.history.stored_values import StoredValues, pack
from hmstats.store.statistics import provenance
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit

_MOST_WRITES = 50
"""Writes to a table after which rows are copied again."""


class LeftHistory(NamedTuple):
    """What a write has `stored`, and what the history tells of its rows from then on (None: nothing).

    The write copies no rows, but the sketches that it replaces, if the history tells of these rows `since` a version.
    """

    stored: StoredValues | None = None
    told: Told | None = None
    since: int | None = None


NO_HISTORY = LeftHistory()


def left_history(
    unit: Unit,
    target: TableFacts,
    owners: Owners,
    statistics: StatisticsByField,
    values: Mapping[str, Sequence[Any]],
    made: Sequence[Provenance],
) -> LeftHistory:
    """What a write of these values leaves, and the provenance of each; `owners` as the last write left them."""
    stored, day, told = _stored_values(unit, statistics, values, made), unit.now_milliseconds // DAY_MS, owners.told
    written_before = told is not None and unit.expects is not None and owners.stored == Rows.of(statistics)
    if not written_before or told is None or told.day != day or target.version - told.version >= _MOST_WRITES:
        return LeftHistory(stored, Told(target.version + 1, day, target.definition))
    return LeftHistory(stored, told, told.version)


def _stored_values(
    unit: Unit, statistics: StatisticsByField, values: Mapping[str, Sequence[Any]], made: Sequence[Provenance]
) -> StoredValues:
    each_made = {id(each): each for each in made}.values()
    texts = {id(each): provenance.array_text(each, unit.now_seconds) for each in each_made}
    described: dict[str, Sequence[Any]] = {
        "COLUMN_TYPE": [each.column_type for each in statistics.columns] * len(statistics.partitions),
        "LAST_ANALYZED": [unit.now_seconds],
        "PROVENANCE": [texts[id(each)] for each in made],
    }
    return pack({**values, **described})
