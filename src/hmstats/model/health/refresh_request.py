"""The tables that a refresh is about, and its limits."""

from dataclasses import dataclass

from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.windows import Window


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """Tables to refresh: pairs of a database (its name a pattern) and a pattern of tables (None: all); no pair: all
    tables of all catalogs.

    `budget_seconds`: the predicted seconds of a round (None: no limit), `windows`: when rounds may run (none: always),
    `quiet_seconds`: how long nobody must have written to a table, `look_seconds`: how often the files of a table are
    listed that looks fresh (None: never), `most`: how many tables of a pattern, and partitions of a table, are looked
    at, the worst first (None: all).
    """

    tables: tuple[tuple[DatabaseName, str | None], ...]
    budget_seconds: float | None = None
    windows: tuple[Window, ...] = ()
    quiet_seconds: float = 60.0
    look_seconds: float | None = 86_400.0
    most: int | None = None
