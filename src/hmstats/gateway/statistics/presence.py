"""Tells whether statistics are here and current: by the upstream's log if it proves that, else by a comparison."""

from hmstats.errors import UpstreamClosed, UpstreamUnavailable, UserRefused
from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.proven import Comparison, Proven
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.gateway.upstream.metrics import PROVEN
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.server.rpc.caller import Session


class Presence:
    """Tells which statistics are here. Thread-safe. `name` is the upstream's in metrics."""

    def __init__(self, upstream: KnownUpstream, mirroring: Mirroring, log: NotificationLog, name: str) -> None:
        self._upstream = upstream
        self._mirroring = mirroring
        self._log = log
        self._proven = Proven(log)
        self._counted_proven = PROVEN.labels(name)

    def is_here(self, session: Session, scope: StatisticsScope) -> bool:
        """Whether the statistics are here and as new as the upstream's. Raises UpstreamUnavailable, UpstreamClosed."""
        user = User(session.user, session.groups)
        number = self._log.number(self._upstream.own_calls())
        if number is None:
            return self._mirroring.sync(self._upstream.calls(session), scope)
        mirror = self._mirroring.tables.find(scope.table)
        if mirror is not None and self._proven.holds(user, scope, Comparison(number, mirror.id)):
            self._counted_proven.inc()
            return True
        is_here = self._mirroring.sync(self._upstream.calls(session), scope)
        mirror = self._mirroring.tables.find(scope.table) if is_here else None
        if mirror is not None:
            self._proven.note(user, scope, Comparison(number, mirror.id))
        return is_here

    def may_answer(self, session: Session, scope: StatisticsScope) -> bool:
        """Whether the statistics are here: as new as the upstream's or, while it is away, as they were last seen.

        Raises UserRefused; UpstreamUnavailable and UpstreamClosed if nothing is here.
        """
        try:
            return self.is_here(session, scope)
        except UserRefused:
            raise
        except (UpstreamUnavailable, UpstreamClosed):
            if self._mirroring.tables.find(scope.table) is None:
                raise
            return True
