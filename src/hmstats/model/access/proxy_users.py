"""Users that may act as others, and from which hosts: Hadoop's hadoop.security.proxyuser.NAME.users and .hosts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from hmstats.errors import MetaError, SettingsError
from hmstats.model.catalog.wildcards import compile_pattern

_KEYS = ("hosts", "users")
_ANY = "*"


@dataclass(frozen=True)
class _Right:
    """The users as whom a user may act, and the hosts that it may do so from; None: from everywhere."""

    users: tuple[re.Pattern[str], ...]
    hosts: tuple[IPv4Network | IPv6Network, ...] | None


class ProxyUsers:
    """The rights of a server."""

    def __init__(self, given: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Read by user the `users` (patterns with * and ?) as whom it may act, and `hosts` (addresses, networks, *).

        Raises SettingsError.
        """
        self._rights = {user: _right(user, of) for user, of in given.items()}

    def allow(self, user: str, other: str, address: str) -> bool:
        """Whether a user may act as another from an address, which has no port."""
        right = self._rights.get(user)
        if right is None or not any(each.fullmatch(other) for each in right.users):
            return False
        return right.hosts is None or _is_in(address, right.hosts)


NOBODY = ProxyUsers({})
"""The rights where nobody may act as another."""


def denial(user: str, other: str, address: str) -> str:
    """The sentence for a user that may not act as another."""
    return f"{user} may not act as {other} from {address}: the setting proxy_users does not allow it"


def _right(user: str, given: Mapping[str, Sequence[str]]) -> _Right:
    if tuple(sorted(given)) != _KEYS or not all(given.values()):
        found = ", ".join(sorted(given)) or "nothing"
        raise SettingsError(f"proxy_users must say users and hosts of {user}, a list each, found {found}")
    try:
        users = tuple(compile_pattern(each, any_text=_ANY, any_character="?") for each in given["users"])
        networks = tuple(ip_network(each) for each in given["hosts"] if each != _ANY)
    except (ValueError, MetaError) as error:
        raise SettingsError(f"proxy_users: {user} must have addresses, networks or * as hosts: {error}") from error
    return _Right(users, None if _ANY in given["hosts"] else networks)


def _is_in(text: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in each for each in networks)
