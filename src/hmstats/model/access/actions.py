"""The actions on a catalog, a database, a table, or the server that a rule can allow."""

from enum import StrEnum


class Action(StrEnum):
    """An action that a rule can allow; the value is its name in a rule file."""

    __hash__ = str.__hash__  # an enumeration's own is slow, and every cached answer looks decisions up
    LIST = "list"
    """Know that the object exists."""
    READ = "read"
    """Read its definition, and its partitions."""
    READ_STATISTICS = "read_statistics"
    """Read its column statistics, which hold values of the data."""
    WRITE_STATISTICS = "write_statistics"
    """Write, merge and delete column statistics, and change parameters that hold statistics."""
    CREATE = "create"
    """Make it."""
    ALTER = "alter"
    """Change its definition, its partitions or its constraints."""
    DROP = "drop"
    """Remove it."""
    LOCK = "lock"
    """Lock it, and open and end transactions."""
    READ_NOTIFICATIONS = "read_notifications"
    """Read the events of its changes, which hold definitions and statistics."""
    ADMIN = "admin"
    """Everything that is about the server: roles, privileges, keys, data connectors; and functions."""
