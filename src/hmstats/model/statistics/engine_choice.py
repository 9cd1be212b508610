"""Chooses between statistics that several engines have written of one column.

The requested engine's win, else those that were analysed last; of two that were analysed in the same second, those of
the engine with the greater name. The SQL of the rule is in store/statistics/aggregates.py (`_has_better`).
"""

Precedence = tuple[bool, int, str]


def precedence(engine: str, analyzed_seconds: int | None, asked: str) -> Precedence:
    """A sort key: of several statistics those with the greatest key are used. `analyzed_seconds` is an epoch time."""
    return engine == asked, analyzed_seconds or 0, engine
