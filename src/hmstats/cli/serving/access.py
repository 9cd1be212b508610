"""Access rules of a server, by its settings, and the warning of a server without authentication."""

import structlog

from hmstats.cli.serving.roots import is_loopback
from hmstats.server.access.rules_in_force import RulesInForce
from hmstats.settings import Settings

_log = structlog.get_logger(__name__)


def access_of(settings: Settings) -> RulesInForce | None:
    """The access rules; None if everybody may do everything. Raises SettingsError when the file is missing or wrong."""
    return None if settings.rules is None else RulesInForce(settings.rules)


def warn_of_strangers(settings: Settings) -> None:
    """Log that whoever reaches the server may use it, when other machines reach it."""
    if is_loopback(settings.host):
        return
    if settings.rules is None:
        what = "everybody who reaches it may read and change everything"
    else:
        what = "everybody who reaches it may do what the rules allow to anonymous"
    _log.warning("server without authentication", host=settings.host, consequence=what)
