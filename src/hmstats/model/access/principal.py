"""The identity of a client that has proven who it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Principal:
    """An authenticated user, its groups, and the mechanism that proved it."""

    user: str
    groups: tuple[str, ...]
    mechanism: str
    """A value of the setting `authentication`: kerberos, token, jwt, certificate or password; or delegation_token."""
    via: str | None = None
    """The user that was proven, if it acts as `user`."""


_MOST_CHARACTERS = 256


def is_user_name(text: str) -> bool:
    """Whether a text can be the name of a user or group: 1 to 256 printable characters without spaces at its ends."""
    return 0 < len(text) <= _MOST_CHARACTERS and text.isprintable() and text == text.strip()
