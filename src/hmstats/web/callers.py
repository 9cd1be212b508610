"""The proof of the user in a request, and the tokens that protect forms against forgery."""

import hmac
import os
from ipaddress import ip_address

from starlette.requests import Request

from hmstats.errors import StatementError

_SCHEMES = ("basic ", "bearer ")


class Callers:
    """Reads the proofs of requests. `unencrypted`: they are taken over plain HTTP from other machines too."""

    def __init__(self, *, unencrypted: bool = False) -> None:
        self._unencrypted = unencrypted
        self._secret = os.urandom(32)

    def proof(self, request: Request) -> str | None:
        """The Authorization header; None without one.

        Raises StatementError for another scheme than Basic and Bearer, and for one that others could have read.
        """
        found = request.headers.get("authorization")
        if found is None:
            return None
        if not found.lower().startswith(_SCHEMES):
            raise StatementError("a user is proven by Basic or Bearer, found another scheme of Authorization")
        if request.url.scheme != "https" and not (self._unencrypted or _is_near(request)):
            raise StatementError(
                "a password or token came unencrypted, so others may have read it: replace it, and open the page over "
                "https (the setting web_tls_certificate, or a proxy)"
            )
        return found

    def token(self, proof: str | None) -> str:
        """The token of forms for the user of this proof. It holds until the process ends."""
        return hmac.new(self._secret, (proof or "").encode(), "sha256").hexdigest()

    def is_token(self, proof: str | None, token: str) -> bool:
        """Whether a form with this token was given to the user of this proof."""
        return hmac.compare_digest(self.token(proof).encode(), token.encode())


def _is_near(request: Request) -> bool:
    host = request.client.host if request.client else ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return not host  # a Unix socket
