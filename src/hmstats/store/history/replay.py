"""The statistics before steps that copied nothing, from the earlier steps that say what they stored.

Such a step names the version since which every write of its rows says so, the first of which has copied what was there
before it. The writes of the versions in between are applied one after the other.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from hmstats.store.history.replaced_rows import CONTENT
from hmstats.store.history.steps import Key, Kind, step_of
from hmstats.store.history.stored_values import Content, apply_write, rows
from hmstats.store.schema import HMSTATS_HISTORY as HISTORY
from hmstats.store.schema import HMSTATS_HISTORY_COLUMN as COLUMN

StepNumber = tuple[int, int]
"""The version of a write, and the number of its step."""


def rows_before(
    connection: Connection, table_id: int, wanted: Mapping[StepNumber, Collection[Key]], since: int
) -> dict[Key, Content]:
    """The rows that were there before the steps by which they are wanted; rows that were not there are absent.

    Each row is wanted by one step. `since` is the least version that the steps name.
    """
    last, keys = max(wanted)[0], {key for some in wanted.values() for key in some}
    copied = _copied(connection, table_id, keys, since, last)
    state: dict[Key, Content] = {}
    found: dict[Key, Content] = {}
    c = HISTORY.c
    query = select(HISTORY).where(c.TBL_ID == table_id, since <= c.VERSION, last >= c.VERSION)
    of_columns = query.where(c.KIND.in_([Kind.COLUMNS.value, Kind.DROPPED.value]))
    for step in connection.execute(of_columns.order_by(c.VERSION, c.STEP)):
        here = wanted.get((step.VERSION, step.STEP), ())
        found.update({key: state[key] for key in here if key in state})
        _apply(step, state, keys, copied)
    return found


def _apply(
    step: Any, state: dict[Key, Content], keys: Collection[Key], copied: Mapping[tuple[StepNumber, Key], Content]
) -> None:
    """Change the rows of a state as a step did; rows of which the step does not say what it stored become unknown."""
    if step.STORED is None:
        for key in _covered(step, keys):
            state.pop(key, None)
        return
    number, has_copies = (step.VERSION, step.STEP), step.SINCE is None and not step.THINNED
    for owner, column, row in rows(step):
        key = Key(owner, step.ENGINE, column)
        if key in keys:
            state[key] = apply_write(copied.get((number, key)) if has_copies else state.get(key), row)


def _covered(step: Any, keys: Iterable[Key]) -> list[Key]:
    read = step_of(step)
    return [key for key in keys if read.covers(*key)]


def _copied(
    connection: Connection, table_id: int, keys: Collection[Key], since: int, last: int
) -> dict[tuple[StepNumber, Key], Content]:
    """The rows that the steps of these versions have copied."""
    c = COLUMN.c
    names = ("VERSION", "STEP", "PART_ID", "ENGINE", "COLUMN_NAME", *CONTENT)
    query = select(*(c[name] for name in names)).where(c.TBL_ID == table_id, since <= c.VERSION, last >= c.VERSION)
    found = (((row[0], row[1]), Key(*row[2:5]), row[5:]) for row in connection.execute(query))
    return {(number, key): content_of(values) for number, key, values in found if key in keys}


def content_of(values: Iterable[Any]) -> Content:
    """The values of a row as the driver reads them, with bytes for its views of memory."""
    return tuple([bytes(each) if isinstance(each, memoryview) else each for each in values])
