"""A token that stands for a proof by Kerberos: who made it for whom, and when it ends."""

from dataclasses import dataclass

DELEGATION_TOKEN = "delegation_token"
"""The mechanism of a principal that such a token proves."""


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token without its secret. Times are epoch milliseconds.

    `renewer` may renew it, and is empty if nobody may; `real_user` has asked for it, and is empty if the owner has.
    `ends_ms` is its end however often it is renewed.
    """

    number: int
    owner: str
    renewer: str
    real_user: str
    issued_ms: int
    ends_ms: int
