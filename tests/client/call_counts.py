"""Counts the calls that clients send to a metastore."""

from collections import Counter
from typing import Any

import pytest

from hmstats.client.connection.connection import Connection


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each call was sent since the test began, or since the counter was cleared."""
    counted: Counter[str] = Counter()
    plain = Connection.call

    def call(self: Connection, method: str, *arguments: Any) -> Any:
        counted[method] += 1
        return plain(self, method, *arguments)

    monkeypatch.setattr(Connection, "call", call)
    return counted
