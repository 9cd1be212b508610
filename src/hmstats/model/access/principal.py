"""The identity of a client that has proven who it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Principal:
    """An authenticated user, its groups, and the mechanism that proved it."""

    user: str
    groups: tuple[str, ...]
    mechanism: str
    """A value of the setting `authentication`: kerberos, token, jwt, certificate or password."""
