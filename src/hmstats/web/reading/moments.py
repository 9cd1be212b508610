"""Times as answers have them, from epoch milliseconds and back."""

from datetime import UTC, datetime

from hmstats.errors import StatementError
from hmstats.model.parameters.row_counts import row_count


def moment(at_ms: int) -> datetime:
    """The time of epoch milliseconds."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).replace(microsecond=at_ms % 1000 * 1000)


def moment_of(text: str) -> int:
    """The epoch milliseconds in a cursor. Raises StatementError for an invalid text."""
    found = row_count(text)
    if found is None:
        raise StatementError(f"a cursor must be taken from the answer before, found {text[:60]!r}")
    return found
