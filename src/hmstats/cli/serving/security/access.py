"""Access rules and audit log of a server, by its settings, and the warning of a server without authentication."""

import structlog

from hmstats.errors import SettingsError
from hmstats.server.access.rules_in_force import RulesInForce
from hmstats.server.calls.audit import AuditLog, send_audit_to
from hmstats.server.calls.audit_table import AuditTable
from hmstats.server.sockets.port import is_loopback
from hmstats.service.access.audit_records import AuditRecords
from hmstats.settings import Settings
from hmstats.store.database.store import Store

_log = structlog.get_logger(__name__)


def access_of(settings: Settings) -> RulesInForce | None:
    """The access rules; None if everybody may do everything. Raises SettingsError when the file is missing or wrong."""
    return None if settings.rules is None else RulesInForce(settings.rules)


def audit_of(settings: Settings, store: Store, worker: int) -> AuditLog | None:
    """The audit log of a worker; None if it is off.

    Raises SettingsError when its file cannot be written, or when a table is wanted that would have nothing.
    """
    days = settings.audit_table_days
    if days and settings.audit == "off":
        raise SettingsError("audit_table_days needs the setting audit = writes or all, found off")
    if days and settings.read_only:
        raise SettingsError("a server that only reads keeps no audit records in its database: set audit_file instead")
    if settings.audit == "off":
        return None
    send_audit_to(settings.audit_file)
    table = AuditTable(AuditRecords(store), days) if days else None
    return AuditLog(settings.audit_reads_share if settings.audit == "all" else 0.0, worker, table)


def warn_of_strangers(settings: Settings) -> None:
    """Log a warning if other machines reach the server and every client may use it."""
    if settings.authentication or is_loopback(settings.host):
        return
    if settings.rules is None:
        what = "everybody who reaches it may read and change everything"
    else:
        what = "everybody who reaches it may do what the rules allow to anonymous"
    _log.warning("server_without_authentication", host=settings.host, consequence=what)
