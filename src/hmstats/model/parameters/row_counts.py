"""The number of rows among the parameters of a table or a partition."""

from hmstats.model.catalog.objects import Parameters

NUM_ROWS = "numRows"
_MOST_DIGITS = 18
"""The most digits of a number of rows, so that it fits in 64 bits."""


def known_rows(parameters: Parameters) -> int | None:
    """The number of rows in the parameters; None when it is absent, negative or no number."""
    return row_count(parameters.get(NUM_ROWS))


def row_count(text: str | None) -> int | None:
    """The number in the text of such a parameter; None if it is absent, negative or no number."""
    if not text or len(text) > _MOST_DIGITS or not text.isascii() or not text.isdecimal():
        return None
    return int(text)
