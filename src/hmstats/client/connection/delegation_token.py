"""A proof of the user by a delegation token, as Hadoop's clients do it (DIGEST-MD5, RFC 2831)."""

import base64
import secrets
from dataclasses import replace
from hmac import compare_digest

from hmstats.client.connection.sasl_transport import Dialogue, Seal
from hmstats.errors import CallRefused, InvalidInput, NotAuthenticated, SettingsError
from hmstats.wire.delegation_tokens import read_token
from hmstats.wire.digest_md5 import (
    FIRST,
    MOST_BYTES,
    Challenge,
    Response,
    proof,
    read_challenge,
    response_text,
    session_hash,
)
from hmstats.wire.digest_seal import IntegritySeal
from hmstats.wire.sasl_messages import Status

_NONCE_BYTES = 32
_URI = "null/default"
"""What Hadoop's clients and servers call the service."""
_SIGNED, _UNSIGNED = "auth-int", "auth"


class DelegationTokenProof:
    """Proves the user by a token. Frames are signed if the server offers that; they are never encrypted."""

    name = b"DIGEST-MD5"

    def __init__(self, token: str) -> None:
        """Raises SettingsError if the text is no token."""
        try:
            identifier, password = read_token(token)
        except InvalidInput as error:
            raise SettingsError(str(error)) from None
        self._username, self._password = (base64.b64encode(each).decode() for each in (identifier, password))

    def prove(self, dialogue: Dialogue, *, over_tls: bool) -> Seal | None:
        """Prove the user, as in Mechanism, and have the server prove that it knows the token too."""
        try:
            challenge = read_challenge(dialogue.answer(b""))
        except NotAuthenticated as error:
            raise CallRefused("SASL", "no challenge", str(error)) from None
        response = self._response(challenge, _protection(challenge, over_tls=over_tls))
        proven = dialogue.answer(response_text(response), Status.COMPLETE)
        expected = f"rspauth={proof(response, self._password, of_server=True)}".encode()
        if not compare_digest(proven, expected):
            raise CallRefused("SASL", "no proof", "the metastore does not know the delegation token")
        if response.protection != _SIGNED:
            return None
        return IntegritySeal(session_hash(response, self._password), challenge.server_bytes, of_server=False)

    def _response(self, challenge: Challenge, protection: str) -> Response:
        response = Response(
            username=self._username,
            realm=challenge.realm,
            nonce=challenge.nonce,
            count=FIRST,
            cnonce=base64.b64encode(secrets.token_bytes(_NONCE_BYTES)).decode(),
            protection=protection,
            uri=_URI,
            proof="",
            acts_as=None,
            client_bytes=MOST_BYTES,
        )
        return replace(response, proof=proof(response, self._password))


def _protection(challenge: Challenge, *, over_tls: bool) -> str:
    """The strongest protection offered; the weakest over TLS."""
    for each in (_UNSIGNED, _SIGNED) if over_tls else (_SIGNED, _UNSIGNED):
        if each in challenge.protections:
            return each
    raise CallRefused(
        "SASL", "no protection", f"the metastore must offer auth or auth-int, found {challenge.protections}"
    )
