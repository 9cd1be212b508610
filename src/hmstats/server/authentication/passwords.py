"""Passwords as proofs: `Authorization: Basic`, over TLS only; and the users of a password file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import structlog

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.password_line import PasswordLine, line_of, read_line
from hmstats.model.access.principal import Principal, is_user_name
from hmstats.private_files import require_private
from hmstats.server.authentication.authentication import Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.guessing import Guessing
from hmstats.server.authentication.proven_passwords import ProvenPasswords
from hmstats.watched_files import WatchedFiles

PASSWORD = "password"
_BELIEVED_SECONDS = 10.0
_REMEMBERED_SECONDS = 60.0
"""How long a password of a file is taken without its hash, which takes 0.2 seconds of a processor on purpose."""
_WRONG = "the user or the password is wrong"
_SETTING = "password_file"

_log = structlog.get_logger("hmstats.server")


class Users(Protocol):
    """Users with passwords: those of a file, or of a directory."""

    def check(self, user: str, password: str) -> Principal | None:
        """The user if the password is its own; None if not. Raises NotAuthenticated if nobody can tell now."""


class Passwords:
    """The users of a password file, which is read again when it changes."""

    def __init__(self, file: str) -> None:
        """Raises SettingsError if the file cannot be used, or if everybody can read it."""
        self._file = file
        self._watched = WatchedFiles(file)
        self._lines = self._read()
        self._proven = ProvenPasswords(_REMEMBERED_SECONDS)
        self._nobody = read_line(line_of("nobody", (), "no password"))

    def refresh(self) -> None:
        """Read the file again if it has changed; one that cannot be used leaves the old users in force."""
        if not self._watched.have_changed():
            return
        try:
            lines = self._read()
        except SettingsError as error:
            _log.error("passwords_not_read", reason=str(error), users=len(self._lines))
            return
        if self._watched.stand_still():
            self._lines, self._proven = lines, ProvenPasswords(_REMEMBERED_SECONDS)
            _log.info("passwords_read", file=self._file, users=len(lines))

    def check(self, user: str, password: str) -> Principal | None:
        """The user if the password is its own; None if not. Takes long on purpose, unless it was right a minute ago."""
        proven_passwords = self._proven  # read before the lines: what an old line proves is not kept beside new ones
        principal = proven_passwords.find(user, password)
        if principal is not None:
            return principal
        lines = self._lines
        line = lines.get(user)
        # Another's hash is checked for unknown users, so that their answer takes as long as that of known ones.
        is_correct = (line or next(iter(lines.values()), self._nobody)).is_of(password)
        if line is None or not is_correct:
            proven_passwords.remove(user)
            return None
        principal = Principal(line.user, line.groups, PASSWORD)
        proven_passwords.put(user, password, principal)
        return principal

    def _read(self) -> Mapping[str, PasswordLine]:
        require_private(_SETTING, self._file)
        try:
            texts = Path(self._file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{_SETTING} {self._file} cannot be read: {type(error).__name__}") from error
        lines = [read_line(each) for each in texts if each.strip() and not each.startswith("#")]
        by_user = {each.user: each for each in lines}
        if len(by_user) < len(lines):
            raise SettingsError(f"{_SETTING} {self._file} must have one line for each user, found two of one")
        return by_user


def by_password(users: Users) -> Mechanism:
    """The mechanism that checks passwords; tries after failures are slowed down."""
    guessing = Guessing()

    def prove(credential: Credential, peer: str) -> Proven:
        user = credential.user or ""
        if not is_user_name(user):
            raise NotAuthenticated(_WRONG)
        address = peer.rpartition(":")[0]
        guessing.allow(address, user)
        principal = users.check(user, credential.secret)
        if principal is None:
            guessing.count_failure(address, user)
            _log.warning("password_wrong", user=user[:100], peer=peer)
            raise NotAuthenticated(_WRONG)
        guessing.clear_failures(address, user)
        return Proven(principal, _BELIEVED_SECONDS)

    return Mechanism(
        PASSWORD, "Basic", lambda credential: credential.user is not None, prove, over_loopback=False, slow=True
    )
