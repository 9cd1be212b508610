"""Canaries: clients that plan with pending statistics."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from hmstats.errors import SettingsError

Network: TypeAlias = IPv4Network | IPv6Network
_EXPECTED = "user:NAME, address:IP, address:NETWORK, or share:FRACTION with or without ' until TIME'"
_SHARE = re.compile(r"(?P<fraction>[0-9.]+)(?:\s+until\s+(?P<until>\S+))?")


@dataclass(frozen=True, slots=True)
class Canary:
    """The clients that are canaries: some users or groups, some networks, and a `share` of all connections.

    The share counts until a time in epoch seconds; None: for ever.
    """

    users: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    share: float = 0.0
    until_seconds: float | None = None

    def takes(self, names: Sequence[str], address: str, drawn: float, now_seconds: float) -> bool:
        """Whether a client is a canary: one of its user and groups, its IP address, or what its connection has drawn.

        `drawn` is a random number from 0 to below 1.
        """
        if not self.users.isdisjoint(names):
            return True
        if drawn < self.share and (self.until_seconds is None or now_seconds < self.until_seconds):
            return True
        return bool(self.networks) and _is_within(address, self.networks)


NOBODY = Canary()


def parse_canary(text: str) -> Canary:
    """The canaries in a text: entries separated by commas. Raises SettingsError."""
    users, networks, share, until = set[str](), list[Network](), 0.0, None
    for entry in filter(None, (each.strip() for each in text.split(","))):
        kind, _, value = (each.strip() for each in entry.partition(":"))
        try:
            if kind == "user" and value:
                users.add(value)
                continue
            if kind == "address":
                networks.append(ip_network(value))
                continue
            if kind == "share":
                share, until = _share(value)
                continue
        except ValueError as error:
            raise _malformed_entry(entry) from error
        raise _malformed_entry(entry)
    return Canary(frozenset(users), tuple(networks), share, until)


def _malformed_entry(entry: str) -> SettingsError:
    return SettingsError(f"canary must have entries {_EXPECTED}, found {entry!r}")


def _share(text: str) -> tuple[float, float | None]:
    found = _SHARE.fullmatch(text)
    if found is None or not 0 < float(found["fraction"]) <= 1:
        raise ValueError(text)
    if found["until"] is None:
        return float(found["fraction"]), None
    until = datetime.fromisoformat(found["until"])
    if until.tzinfo is None:
        raise ValueError(text)
    return float(found["fraction"]), until.timestamp()


def _is_within(address: str, networks: Sequence[Network]) -> bool:
    try:
        found = ip_address(address.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in each for each in networks)
