"""HMSTATS_PARTIAL_STATE: partial states from tasks of running writes."""

from collections.abc import Sequence

from sqlalchemy import Connection, Text, bindparam, delete, func, select, tuple_

from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.store.schema import HMSTATS_PARTIAL_STATE as STATES
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_KEY = ("RUN_ID", "TASK", "ATTEMPT", "NUMBER")
_RUNS_AT_ONCE = 100


def put(unit: Unit, run: str, states: Sequence[PartialState]) -> None:
    """Store states of a run; a state with the task, attempt and number of a stored one replaces it."""
    rows = [
        {
            "RUN_ID": run,
            "TASK": place.task,
            "ATTEMPT": place.attempt,
            "NUMBER": place.number,
            "PIECE": place.piece,
            "STATE": state,
            "WRITTEN_AT": unit.now_seconds,
        }
        for place, state in sorted(states, key=lambda each: each.place[1:])
    ]
    upsert(
        unit,
        STATES,
        _KEY,
        rows,
        lambda _, new: {"PIECE": new.PIECE, "STATE": new.STATE, "WRITTEN_AT": new.WRITTEN_AT},
    )


def page(connection: Connection, run: str, after: Place | None, most: int) -> list[PartialState]:
    """The first `most` states of a run after a place (None: from the beginning), in the order of places."""
    c = STATES.c
    # The order of bytes is the same everywhere; that of texts depends on the database's locale.
    piece = c.PIECE if connection.dialect.name == "sqlite" else c.PIECE.collate("C")
    place = (piece, c.TASK, c.ATTEMPT, c.NUMBER)
    query = select(c.PIECE, c.TASK, c.ATTEMPT, c.NUMBER, c.STATE).where(c.RUN_ID == run).order_by(*place).limit(most)
    if after is not None:
        query = query.where(tuple_(*place) > tuple_(bindparam(None, after.piece, Text()), *after[1:]))
    return [PartialState(Place(*row[:4]), bytes(row.STATE)) for row in connection.execute(query)]


def remove(unit: Unit, run: str) -> int:
    """Remove a run's states. Returns their number."""
    return unit.connection.execute(delete(STATES).where(STATES.c.RUN_ID == run)).rowcount


def remove_dead(unit: Unit, before_seconds: int) -> int:
    """Remove up to a hundred runs that have stored nothing since a time (epoch seconds). Returns their number."""
    c = STATES.c
    silent = select(c.RUN_ID).group_by(c.RUN_ID).having(func.max(c.WRITTEN_AT) < before_seconds).limit(_RUNS_AT_ONCE)
    runs = unit.connection.execute(silent.order_by(c.RUN_ID)).scalars().all()
    if runs:
        unit.connection.execute(delete(STATES).where(one_of(unit.connection, c.RUN_ID, runs)))
    return len(runs)
