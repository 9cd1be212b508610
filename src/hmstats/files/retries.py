"""Tries again what an object store has refused for a moment, where Arrow does not.

Arrow's client for S3 tries again by itself, but neither an answer without a body nor one whose error is longer than the
bytes that were asked for.
"""

import time
from collections.abc import Callable
from typing import TypeVar

_TRIES = 4
_FIRST_SECONDS = 0.2
_PASSING = ("HTTP status 5", "HTTP status 429", "SLOW_DOWN", "INTERNAL_FAILURE", "REQUEST_TIMEOUT", "THROTTLING")
"""Parts of the errors that may pass."""
Answer = TypeVar("Answer")


def retry(act: Callable[[], Answer]) -> Answer:
    """The answer of a call that changes nothing, which is repeated if its error may pass. Raises its last OSError."""
    for number in range(_TRIES - 1):
        try:
            return act()
        except OSError as error:
            if not any(part in str(error) for part in _PASSING):
                raise
            time.sleep(_FIRST_SECONDS * 2**number)
    return act()
