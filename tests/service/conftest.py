"""For every test of the rules."""

import pytest


@pytest.fixture(autouse=True)
def _every_change_is_counted(counted_changes: None) -> None:
    """See tests/fixtures/databases/versions.py."""
