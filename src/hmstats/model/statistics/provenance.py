"""The provenance of a column's statistics: how they were made, by whom, with which program, and when."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The provenance of one column's statistics.

    `exact`: every number is, the distinct count too; False: some are estimates. `ndv_standard_error` is relative: 0.016
    says that two of three estimates are within 1.6 % of the truth. `sample_fraction` is the part of the rows that was
    looked at, 1 for all; `rows_seen` is how many those were. `writer` is who sent them, `tool` the program and version
    that made them. `written_at_seconds` is epoch time, None until stored.
    """

    exact: bool | None = None
    ndv_standard_error: float | None = None
    rows_seen: int | None = None
    sample_fraction: float | None = None
    writer: str | None = None
    tool: str | None = None
    written_at_seconds: int | None = None


def merge(one: Provenance, other: Provenance) -> Provenance:
    """The provenance of merged statistics; the error of their distinct count follows from the merged sketch."""
    exact = None if None in (one.exact, other.exact) else bool(one.exact and other.exact)
    return Provenance(
        exact=False if False in (one.exact, other.exact) else exact,
        rows_seen=None if one.rows_seen is None or other.rows_seen is None else one.rows_seen + other.rows_seen,
        sample_fraction=_fraction(one, other),
        writer=other.writer,
        tool=other.tool,
        written_at_seconds=other.written_at_seconds,
    )


def _fraction(one: Provenance, other: Provenance) -> float | None:
    """The part of all rows that was read, if it is known."""
    if one.sample_fraction == other.sample_fraction or not (one.sample_fraction and other.sample_fraction):
        return one.sample_fraction if one.sample_fraction == other.sample_fraction else None
    if one.rows_seen is None or other.rows_seen is None:
        return None
    rows = one.rows_seen / one.sample_fraction + other.rows_seen / other.sample_fraction
    return (one.rows_seen + other.rows_seen) / rows if rows else None


def tools_that_counted(rows: int, made: Iterable[Provenance]) -> tuple[str, ...]:
    """The programs whose statistics are of exactly so many rows, so that they tell where this number comes from."""
    found = (each.tool for each in made if each.tool and each.sample_fraction == 1 and each.rows_seen == rows)
    return tuple(dict.fromkeys(found))
