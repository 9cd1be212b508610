"""The roots in which a server may create, move and remove directories, by its settings and its address."""

import structlog

from hmstats.server.sockets.port import is_loopback
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse
from hmstats.settings import Settings

_log = structlog.get_logger(__name__)


def warehouse_of(settings: Settings) -> Warehouse:
    """The warehouse, with the roots in which directories may be changed.

    Any client of a server can make it remove directories, so a server that other machines reach has only its warehouse
    and the configured roots.
    """
    roots = settings.warehouse_roots
    if roots is None:
        roots = (EVERYWHERE,) if is_loopback(settings.host) else ()
    return Warehouse(settings.warehouse, roots, trash=settings.trash)


def warn_of_roots(settings: Settings) -> None:
    """Log that a server that other machines reach changes directories in its warehouse only."""
    if settings.warehouse_roots is None and not is_loopback(settings.host) and not settings.read_only:
        _log.warning(
            "warehouse_roots_unset",
            host=settings.host,
            roots=[settings.warehouse],
            consequence="databases and managed tables elsewhere are refused: set warehouse_roots to their prefixes",
        )
