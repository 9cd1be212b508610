"""The mechanism DIGEST-MD5 of SASL for delegation tokens: the identifier is the user, the secret the password.

Each challenge has a nonce of its own and takes one response, so that a response that was seen is worth nothing.
"""

import base64
import secrets
import threading
from collections.abc import Sequence
from hmac import compare_digest
from weakref import WeakSet

import structlog

from hmstats.errors import InvalidInput, NotAuthenticated, ProtocolError, StoreUnavailable
from hmstats.model.access.delegation_token import DELEGATION_TOKEN, DelegationToken
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.sasl import Protection, SaslMechanism, Seal
from hmstats.service.access.delegation_tokens import DelegationTokens
from hmstats.wire.delegation_tokens import token_of
from hmstats.wire.digest_md5 import FIRST, Response, challenge, proof, read_response, session_hash
from hmstats.wire.digest_seal import IntegritySeal

_REALM = "default"
_SIGNED = "auth-int"
_OFFERED = {
    Protection.AUTHENTICATION: ("auth", _SIGNED),
    Protection.INTEGRITY: (_SIGNED,),
}
"""The values of qop to offer, by the least protection that is required. Over TLS nothing is protected a second time."""
_NONCE_BYTES = 32
_WRONG = "the delegation token is unknown, cancelled or expired, or its proof is wrong"

_log = structlog.get_logger("hmstats.server")


class DigestConversation:
    """An empty response, a challenge, and the response to it."""

    def __init__(self, tokens: "TokensInUse", peer: str, offered: Sequence[str]) -> None:
        """`offered` are values of qop. Raises NotAuthenticated if there is none."""
        if not offered:
            raise NotAuthenticated("a delegation token is taken over TLS only: the setting protection is privacy")
        self._offered = offered
        self.seal: Seal | None = None
        self._tokens = tokens
        self._peer = peer
        self._nonce: str | None = None
        self.token: DelegationToken | None = None
        """The proven token."""
        self.ended = False
        self._principal: Principal | None = None
        self.success = b""

    @property
    def principal(self) -> Principal:
        """The owner of the token, and who has asked for it."""
        assert self._principal is not None
        return self._principal

    def step(self, response: bytes) -> bytes | None:
        """Challenge the client, or check its response. Raises NotAuthenticated, ProtocolError."""
        if self._nonce is None:
            self._nonce = base64.b64encode(secrets.token_bytes(_NONCE_BYTES)).decode()
            return challenge(_REALM, self._nonce, self._offered)
        given = read_response(response)
        if (given.realm, given.nonce, given.count) != (_REALM, self._nonce, FIRST):
            raise NotAuthenticated("a response of DIGEST-MD5 must be to this challenge, found one to another")
        if given.protection not in self._offered:
            raise NotAuthenticated(f"DIGEST-MD5 is offered with qop {' or '.join(self._offered)}, found another")
        if given.acts_as not in (None, given.username):
            raise NotAuthenticated("a client by a delegation token must name no user to act as, found one")
        self._prove(given)
        return None

    def _prove(self, given: Response) -> None:
        token = _token(given.username)
        secret = None if token is None else self._secret(token)
        password = base64.b64encode(secret or secrets.token_bytes(_NONCE_BYTES)).decode()
        right = compare_digest(proof(given, password).encode(), given.proof.encode())
        if token is None or secret is None or not right:
            _log.info("delegation_token_refused", peer=self._peer, owner=token.owner[:100] if token else None)
            raise NotAuthenticated(_WRONG)
        if given.protection == _SIGNED:
            self.seal = IntegritySeal(session_hash(given, password), given.client_bytes)
        self.token = token
        self._tokens.add(self)
        self._principal = Principal(token.owner, (), DELEGATION_TOKEN, token.real_user or None)
        self.success = f"rspauth={proof(given, password, of_server=True)}".encode()

    def _secret(self, token: DelegationToken) -> bytes | None:
        try:
            return self._tokens.tokens.secret(token)
        except StoreUnavailable as error:
            raise ProtocolError(f"the delegation token could not be looked up: {error}; try again later") from error


class TokensInUse:
    """The tokens of a database, and the connections of a worker that were proven by one. Thread-safe."""

    def __init__(self, tokens: DelegationTokens) -> None:
        self.tokens = tokens
        self._lock = threading.Lock()
        self._open: WeakSet[DigestConversation] = WeakSet()
        """Each is held by its connection."""

    def add(self, conversation: DigestConversation) -> None:
        """Note a proven connection."""
        with self._lock:
            self._open.add(conversation)

    def refresh(self) -> None:
        """End the connections whose tokens were cancelled or have expired; to be called every few seconds."""
        with self._lock:
            conversations = list(self._open)
        found = {each.token for each in conversations if each.token is not None}
        valid = self.tokens.still_valid(found) if found else set()
        for each in conversations:
            each.ended = each.token not in valid


def sasl_digest(tokens: TokensInUse, least: Protection) -> SaslMechanism:
    """DIGEST-MD5 with the tokens of a database. It encrypts nothing, so that privacy takes TLS."""
    plain = _OFFERED.get(least, ())
    return SaslMechanism(
        "DIGEST-MD5", lambda peer, secure: DigestConversation(tokens, peer, ("auth",) if secure else plain)
    )


def _token(username: str) -> DelegationToken | None:
    """The token that a client names; None if it names none."""
    try:
        return token_of(base64.b64decode(username, validate=True))
    except (ValueError, InvalidInput):
        return None
