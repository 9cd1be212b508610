"""Delegation: users proven by Kerberos get tokens for themselves, and for the users as whom they may act."""

from dataclasses import dataclass

from hmstats.model.access.kerberos_names import KerberosRules
from hmstats.model.access.proxy_users import ProxyUsers
from hmstats.service.access.delegation_tokens import DelegationTokens


@dataclass(frozen=True, slots=True)
class Delegation:
    """The tokens of a server, the rules that make users of principals, and who may act as others."""

    tokens: DelegationTokens
    rules: KerberosRules
    proxies: ProxyUsers


def host_of(peer: str) -> str:
    """The address of a client (HOST:PORT) without its port."""
    return peer.rpartition(":")[0].strip("[]")
