"""The access rules of a file, read again when it changes."""

from pathlib import Path

import structlog

from hmstats.errors import SettingsError
from hmstats.model.access.rule_file import parse_rules
from hmstats.model.access.rules import Rules
from hmstats.server.file_stamps import read_stamp

_log = structlog.get_logger("hmstats.access")


def read_rules(file: str) -> Rules:
    """The rules in a file. Raises SettingsError if it cannot be read or holds no valid rules."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"rules {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"rules {file} must be UTF-8: {error}") from error
    return parse_rules(text, file)


class RulesInForce:
    """The rules of a file. Rules that were read anew are another object than those before."""

    def __init__(self, file: str) -> None:
        """Raises SettingsError if the file cannot be read or holds no valid rules."""
        self._file = file
        self._stamp = self._last_seen = read_stamp(file)
        """The file that was read, and the one that was there at the last look."""
        self.rules = read_rules(file)

    def refresh(self) -> None:
        """Read the file again if it has changed, but not since the last look; the old rules stay if it is wrong.

        Of a file that is being written, the part that is there already may allow more than the whole.
        """
        stamp = read_stamp(self._file)
        stands_still, self._last_seen = stamp == self._last_seen, stamp
        if stamp == self._stamp or not stands_still:
            return
        self._stamp = stamp
        try:
            rules = read_rules(self._file)
        except SettingsError as error:
            _log.warning("rules_not_changed", file=self._file, reason=str(error))
            return
        if read_stamp(self._file) == stamp:
            self.rules = rules
            _log.info("rules_changed", file=self._file, rules=len(rules.rules))
