"""Lines of a password file: USER:scrypt$N$R$P$SALT$HASH:GROUP,GROUP, with salt and hash in base64.

scrypt (RFC 7914) costs memory and time on purpose, so that a stolen file gives no passwords. Whoever reads the line of
one user learns neither whether another has the same password, nor its length.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from hmstats.errors import SettingsError
from hmstats.model.access.principal import is_user_name

_N, _R, _P = 2**14, 8, 5
"""The parameters for new lines: 16 MiB and some tenths of a second, as OWASP's cheat sheet of 2025 has them."""
_SALT_BYTES, _HASH_BYTES = 16, 32
_MOST_MEMORY_BYTES = 128 * 1024 * 1024
_MOST_PASSWORD_BYTES = 1_024
_SEPARATORS = frozenset(":,")
_FORM = "USER:scrypt$N$R$P$SALT$HASH:GROUP,..."


@dataclass(frozen=True, slots=True)
class PasswordLine:
    """A user with the hash of its password."""

    user: str
    groups: tuple[str, ...]
    cost: tuple[int, int, int]
    """N, r and p of scrypt."""
    salt: bytes = field(repr=False)
    hashed: bytes = field(repr=False)

    def is_of(self, password: str) -> bool:
        """Whether it is this password's, in a time that does not depend on the password. Takes long on purpose."""
        data = password.encode()
        right = hmac.compare_digest(_scrypt(data[:_MOST_PASSWORD_BYTES], self.salt, self.cost), self.hashed)
        return right and len(data) <= _MOST_PASSWORD_BYTES


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
    try:
        kind, n, r, p, salt, hashed = secret.split("$")
        cost = int(n), int(r), int(p)
        found = (base64.b64decode(salt, validate=True), base64.b64decode(hashed, validate=True))
    except (ValueError, binascii.Error):
        raise SettingsError(f"the line of user {user!r} in a password file must be {_FORM}") from None
    if kind != "scrypt" or not is_user_name(user) or len(found[1]) != _HASH_BYTES or len(found[0]) < _SALT_BYTES:
        raise SettingsError(f"the line of user {user!r} in a password file must be {_FORM}")
    line = PasswordLine(user, tuple(each for each in groups.strip().split(",") if each), cost, *found)
    try:
        _scrypt(b"", line.salt, cost)
    except ValueError:
        raise SettingsError(f"the line of user {user!r} in a password file has wrong numbers N, R and P") from None
    return line


def _scrypt(password: bytes, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY_BYTES, dklen=_HASH_BYTES)
