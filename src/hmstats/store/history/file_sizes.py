"""The sizes of files as writers have stated them: a restore puts back those of files that may be gone."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from hmstats.model.parameters.basic_statistics import FILE_SIZES
from hmstats.store.history import steps
from hmstats.store.history.caller import RESTORE
from hmstats.store.history.steps import OF_TABLE, Kind, Step
from hmstats.store.schema import HMSTATS_HISTORY_PARAMETER
from hmstats.store.statements.value_sets import one_of

Sizes = tuple[str | None, ...]
"""The values of FILE_SIZES; None where there is none."""


def sizes_of(values: Mapping[str, str]) -> Sizes:
    """The sizes among the parameters of a table or partition."""
    return tuple(values.get(key) for key in FILE_SIZES)


def as_stated(
    connection: Connection, table_id: int, at_ms: int, parameters: Mapping[int, Mapping[str, str]]
) -> dict[int, Sizes]:
    """The sizes of a table and its partitions without what restores after a time have put back, by owner.

    `parameters` are those of now. What the last other write said counts, as it was before the restores that followed.
    """
    found = {owner: sizes_of(values) for owner, values in parameters.items()}
    later = [step for step in steps.after(connection, table_id, at_ms) if step.kind is Kind.PARAMETERS]
    if all(step.call != RESTORE for step in later):
        return found
    replaced = _replaced(connection, table_id, later)
    settled = set[int]()
    for step in reversed(later):
        owners = {OF_TABLE} if step.partitions is None else step.partitions
        for owner in owners - settled:
            before = sizes_of(replaced.get((step.version, step.number, owner), {}))
            if step.call != RESTORE and before != found.get(owner):
                settled.add(owner)
            else:
                found[owner] = before
    return found


def _replaced(
    connection: Connection, table_id: int, later: Sequence[Step]
) -> dict[tuple[int, int, int], dict[str, str]]:
    """The sizes before each of the steps, by version, step and owner."""
    c = HMSTATS_HISTORY_PARAMETER.c
    query = select(c.VERSION, c.STEP, c.PART_ID, c.PARAM_KEY, c.PARAM_VALUE)
    query = query.where(c.TBL_ID == table_id, later[0].version <= c.VERSION)
    rows: dict[tuple[int, int, int], dict[str, str]] = {}
    for version, number, owner, key, value in connection.execute(
        query.where(one_of(connection, c.PARAM_KEY, FILE_SIZES))
    ):
        rows.setdefault((version, number, owner), {})[key] = value or ""
    return rows
