"""Cursors: opaque texts that say after which entry a page begins. A page has no number, so nothing is read in vain."""

import base64
import binascii
import json
from collections.abc import Sequence

from hmstats.errors import StatementError


def cursor(*parts: str) -> str:
    """The cursor after the entry with these parts of its key."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def parts_of(text: str, count: int) -> Sequence[str]:
    """The parts of a cursor's key. Raises StatementError for a text with another number of parts."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != count or not all(isinstance(each, str) for each in parts):
        raise StatementError(f"a cursor must be taken from the answer before, found {text[:60]!r}")
    return parts
