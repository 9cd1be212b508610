"""The public keys that sign JSON Web Tokens, from a file or an https address (JWKS, RFC 7517).

They are read in the background only: a token that names an unknown key asks for a new look, and never waits for one.
"""

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import jwt
import structlog

from hmstats.errors import SettingsError
from hmstats.watched_files import WatchedFiles

_EVERY_SECONDS = 300.0
_AT_LEAST_SECONDS = 30.0
"""The pause between two looks, even if tokens name unknown keys."""
_ANSWER_SECONDS = 10.0
_MOST_BYTES = 1024 * 1024
_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_ALGORITHMS = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
"""Kind and curve of a key to the algorithms that it may sign with: none of them has a shared secret."""

_log = structlog.get_logger("hmstats.server")


@dataclass(frozen=True, slots=True)
class Key:
    """A public key, and the algorithms of signatures that it may check."""

    key: Any
    algorithms: frozenset[str]


class JsonWebKeys:
    """The keys of one source by their ids. `refresh` is called every few seconds, by one thread."""

    def __init__(self, source: str) -> None:
        """Raises SettingsError if a file cannot be used, or if an address is not https."""
        self._source = source
        self._of_file = "://" not in source
        if not self._of_file and not source.startswith("https://"):
            raise SettingsError(f"jwt_jwks must be a file or an https address, found {source}")
        self._keys: Mapping[str | None, Key] = {}
        self._has_unknown_key = False
        self._next = 0.0
        self._last = -_AT_LEAST_SECONDS
        self._watched = WatchedFiles(source)
        if self._of_file:
            self._keys = _read(self._load(), source)

    def find(self, key_id: str | None) -> Key | None:
        """The key with an id, or the only key for a token that names none; asks for a new look if there is none."""
        keys = self._keys
        if key_id is None and len(keys) == 1:
            return next(iter(keys.values()))
        key = keys.get(key_id) if key_id is not None else None
        if key is None:
            self._has_unknown_key = True
        return key

    def refresh(self) -> None:
        """Look for new keys if it is time; those in force stay if the source is away or wrong."""
        if not self._is_due():
            return
        try:
            self._keys = _read(self._load(), self._source)
            _log.info("jwt_keys_read", source=self._source, keys=len(self._keys))
        except SettingsError as error:
            _log.warning("jwt_keys_not_read", reason=str(error), keys=len(self._keys))

    def _is_due(self) -> bool:
        if self._of_file:
            return self._watched.have_changed()
        now = time.monotonic()
        if now < self._next and not (self._has_unknown_key and now >= self._last + _AT_LEAST_SECONDS):
            return False
        self._has_unknown_key, self._last, self._next = False, now, now + _EVERY_SECONDS
        return True

    def _load(self) -> bytes:
        try:
            if self._of_file:
                return Path(self._source).read_bytes()
            with _opener().open(self._source, timeout=_ANSWER_SECONDS) as response:
                data: bytes = response.read(_MOST_BYTES + 1)
        except (OSError, HTTPException, ValueError) as error:
            raise SettingsError(f"jwt_jwks {self._source} cannot be read: {_reason(error)}") from error
        if len(data) > _MOST_BYTES:
            raise SettingsError(f"jwt_jwks {self._source} may have {_MOST_BYTES} bytes, found more")
        return data


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the address of the settings is the one that is trusted."""

    def redirect_request(self, *_: Any) -> None:
        """Nothing, so that the answer is an error."""


def _opener() -> urllib.request.OpenerDirector:
    context = ssl.create_default_context()
    return urllib.request.build_opener(_NoRedirection, urllib.request.HTTPSHandler(context=context))


def _read(data: bytes, source: str) -> Mapping[str | None, Key]:
    """The keys in a JWKS that may check signatures. Raises SettingsError if there is none, or if one is secret."""
    try:
        keys = json.loads(data)["keys"]
        found = {each.get("kid"): key for each in keys if (key := _key(each)) is not None}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, jwt.PyJWTError) as error:
        raise SettingsError(f"jwt_jwks {source} must be a JSON Web Key Set, found another text") from error
    if any("d" in each for each in keys):
        raise SettingsError(f"jwt_jwks {source} must have public keys only, found a private one")
    if not found:
        raise SettingsError(f"jwt_jwks {source} has no key that can check signatures")
    return found


def _key(fields: Mapping[str, Any]) -> Key | None:
    kind = fields["kty"]
    allowed = _ALGORITHMS.get((kind, None if kind == "RSA" else fields.get("crv")))
    if allowed is None or fields.get("use", "sig") != "sig":
        return None
    if "alg" in fields:
        allowed &= {fields["alg"]}
    return Key(jwt.PyJWK(dict(fields), algorithm=min(allowed)).key, allowed) if allowed else None


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"status {error.code}"
    return str(getattr(error, "strerror", None) or getattr(error, "reason", None) or type(error).__name__)
