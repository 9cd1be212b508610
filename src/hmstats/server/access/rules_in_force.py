"""The access rules of a file, read again when it changes."""

from pathlib import Path

import structlog

from hmstats.errors import SettingsError
from hmstats.model.access.rule_file import parse_rules
from hmstats.model.access.rules import Rules
from hmstats.watched_files import WatchedFiles

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
    """The rules of a file. Each time the file is read, `rules` becomes a new object."""

    def __init__(self, file: str) -> None:
        """Raises SettingsError if the file cannot be read or holds no valid rules."""
        self._file = file
        self._watched = WatchedFiles(file)
        self.rules = read_rules(file)

    def refresh(self) -> None:
        """Read the file again if it has changed; the old rules stay if it is wrong."""
        if not self._watched.have_changed():
            return
        try:
            rules = read_rules(self._file)
        except SettingsError as error:
            _log.warning("rules_not_changed", file=self._file, reason=str(error))
            return
        if self._watched.stand_still():
            self.rules = rules
            _log.info("rules_changed", file=self._file, rules=len(rules.rules))
