"""Sends kept answers from the selector's thread: one question to the upstream proves all that are waiting.

Only calls that the upstream alone answers are handled here. When the log has new entries, the calls go to threads,
which read them.
"""

from collections.abc import Collection

from hmstats.gateway.catalog.kept_answers import KEPT, KeptAnswers
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.log_line import LOG, LogLine
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.server.cache.cached_answers import CachedAnswer, Versions
from hmstats.server.rpc.caller import Session


class PromptAnswers:
    """Kept answers, and the lines to the upstream that prove them. Thread-safe; only `version_line` waits."""

    def __init__(self, kept: KeptAnswers, relay: UpstreamRelay) -> None:
        self._kept = kept
        self._relay = relay

    def find(self, name: str, message: bytes, body_at: int, session: Session) -> CachedAnswer | None:
        """The kept answer to a call, which is valid if the log's last number is still the one that was read."""
        if name not in KEPT or self._relay.is_bound(session):
            return None
        found = self._kept.find_read((User(session.user, session.groups), name, message[body_at:]))
        return None if found is None else CachedAnswer({LOG: found.number}, {}, found.result)

    def count(self) -> None:
        """Count a call that was answered this way."""
        self._kept.count()

    def cached_versions(self, _: Collection[int]) -> Versions | None:
        """Always None: only the upstream knows the log's last number."""
        return None

    def version_line(self) -> LogLine | None:
        """Open a line to the upstream; None if the upstream's connections use SASL. Raises UpstreamUnavailable."""
        return self._relay.log_line()
