"""Lines of a password file: USER:scrypt$N$R$P$SALT$HASH:GROUP,GROUP, with salt and hash in base64; or bcrypt's.

scrypt (RFC 7914) costs memory and time on purpose, so that a stolen file gives no passwords. A line tells neither the
length of the password, nor whether another user has the same one. Lines of `htpasswd -B`, USER:$2y$10$.., as Trino's
password files have them, are taken too; groups may follow after a further colon.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

import bcrypt

from hmstats.errors import SettingsError
from hmstats.model.access.principal import is_user_name

_N, _R, _P = 2**14, 8, 5
"""The parameters for new lines: 16 MiB and some tenths of a second, as OWASP's cheat sheet of 2025 has them."""
_SALT_BYTES, _HASH_BYTES = 16, 32
_MOST_MEMORY_BYTES = 128 * 1024 * 1024
_MOST_PASSWORD_BYTES = 1_024
_SEPARATORS = frozenset(":,")
_FORM = "USER:scrypt$N$R$P$SALT$HASH:GROUP,... or USER:$2y$COST$SALTHASH"
_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_BCRYPT_COSTS = range(8, 17)
"""Rounds are 2 to the cost: below 8 they protect nothing, above 16 a call takes seconds."""
_MOST_BCRYPT_BYTES = 72
"""bcrypt reads no more of a password."""


@dataclass(frozen=True, slots=True)
class ScryptHash:
    """A hash by scrypt; `cost` is N, r and p."""

    cost: tuple[int, int, int]
    salt: bytes = field(repr=False)
    hashed: bytes = field(repr=False)

    def is_of(self, password: bytes) -> bool:
        """Whether it is this password's."""
        right = hmac.compare_digest(_scrypt(password[:_MOST_PASSWORD_BYTES], self.salt, self.cost), self.hashed)
        return right and len(password) <= _MOST_PASSWORD_BYTES


@dataclass(frozen=True, slots=True)
class BcryptHash:
    """A hash by bcrypt."""

    text: bytes = field(repr=False)

    def is_of(self, password: bytes) -> bool:
        """Whether it is this password's; never a longer one's, whose end bcrypt does not read."""
        right = bcrypt.checkpw(password[:_MOST_BCRYPT_BYTES], self.text)
        return right and len(password) <= _MOST_BCRYPT_BYTES


@dataclass(frozen=True, slots=True)
class PasswordLine:
    """A user with the hash of its password."""

    user: str
    groups: tuple[str, ...]
    hashed: ScryptHash | BcryptHash

    def is_of(self, password: str) -> bool:
        """Whether it is this password's, in a time that does not depend on the password. Takes long on purpose."""
        return self.hashed.is_of(password.encode())


def line_of(user: str, groups: tuple[str, ...], password: str) -> str:
    """A new line. Raises SettingsError if a name or the password cannot stand in one."""
    for name in (user, *groups):
        if not is_user_name(name) or not _SEPARATORS.isdisjoint(name):
            raise SettingsError(f"a user or group of a password file must be printable, without : and , found {name!r}")
    data = password.encode()
    if not 0 < len(data) <= _MOST_PASSWORD_BYTES:
        raise SettingsError(f"a password must have 1 to {_MOST_PASSWORD_BYTES} bytes, found {len(data)}")
    salt = secrets.token_bytes(_SALT_BYTES)
    cost = (_N, _R, _P)
    texts = (*map(str, cost), *(base64.b64encode(each).decode() for each in (salt, _scrypt(data, salt, cost))))
    return f"{user}:scrypt${'$'.join(texts)}:{','.join(groups)}"


def read_line(text: str) -> PasswordLine:
    """The user of a line. Raises SettingsError, without a word of the line but its user."""
    user, separator, rest = text.partition(":")
    if not separator:
        raise SettingsError(f"a line of a password file must be {_FORM}, found one without :")
    secret, _, groups = rest.partition(":")
    hashed = _read_hash(user, secret.strip())
    if hashed is None or not is_user_name(user):
        raise SettingsError(f"the line of user {user!r} in a password file must be {_FORM}")
    return PasswordLine(user, tuple(each for each in groups.strip().split(",") if each), hashed)


def _read_hash(user: str, secret: str) -> ScryptHash | BcryptHash | None:
    """The hash in a line; None if it has no known form. Raises SettingsError for a cost that is out of bounds."""
    found = _BCRYPT.fullmatch(secret)
    if found is None:
        return _read_scrypt(user, secret)
    if int(found[1]) not in _BCRYPT_COSTS:
        least, most = _BCRYPT_COSTS[0], _BCRYPT_COSTS[-1]
        raise SettingsError(
            f"the line of user {user!r} in a password file must have a cost of {least} to {most}, found {int(found[1])}"
        )
    return BcryptHash(secret.encode())


def _read_scrypt(user: str, secret: str) -> ScryptHash | None:
    try:
        kind, n, r, p, salt, hashed = secret.split("$")
        cost = int(n), int(r), int(p)
        found = (base64.b64decode(salt, validate=True), base64.b64decode(hashed, validate=True))
    except (ValueError, binascii.Error):
        return None
    if kind != "scrypt" or len(found[1]) != _HASH_BYTES or len(found[0]) < _SALT_BYTES:
        return None
    try:
        _scrypt(b"", found[0], cost)
    except ValueError:
        raise SettingsError(f"the line of user {user!r} in a password file has wrong numbers N, R and P") from None
    return ScryptHash(cost, *found)


def _scrypt(password: bytes, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY_BYTES, dklen=_HASH_BYTES)
