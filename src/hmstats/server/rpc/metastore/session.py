"""Session calls: the caller's user, and the calls that every Thrift service inherits from fb303."""

import time

from hmstats.errors import MetaError
from hmstats.server.monitoring.metrics import answered_calls
from hmstats.server.rpc.caller import Session
from hmstats.version import __version__

_NOW_SECONDS = "now_seconds"
_MOST_CHARACTERS = 65_536
"""The most characters of a user and its groups together: a connection holds them as long as it is open."""
_ALIVE = 2
"""fb_status ALIVE."""


class SessionCalls:
    """set_ugi and the calls inherited from fb303."""

    def __init__(self) -> None:
        self._started_seconds = int(time.time())

    def set_ugi(self, session: Session, user_name: str | None, group_names: list[str] | None) -> list[str]:
        """Store the caller's user and groups, and return the groups, as in Hive; an authenticated user's own name."""
        if session.principal is not None:
            return [session.principal.user]
        size = sum(map(len, (user_name or "", *(group_names or ()))))
        if size > _MOST_CHARACTERS:
            raise MetaError(f"a user and its groups must have at most {_MOST_CHARACTERS:,} characters, found {size:,}")
        session.identify(user_name, tuple(group_names or ()))
        return list(session.groups)

    def shutdown(self, session: Session) -> None:
        """No effect: Hive's clients call it when they close."""

    def getName(self, session: Session) -> str:  # noqa: N802
        """The service's name."""
        return "hmstats"

    def getVersion(self, session: Session) -> str:  # noqa: N802
        """The version of hmstats."""
        return __version__

    def getStatus(self, session: Session) -> int:  # noqa: N802
        """Alive."""
        return _ALIVE

    def getStatusDetails(self, session: Session) -> str:  # noqa: N802
        """Always empty."""
        return ""

    def aliveSince(self, session: Session) -> int:  # noqa: N802
        """When the server started, in epoch seconds."""
        return self._started_seconds

    def getCounters(self, session: Session) -> dict[str, int]:  # noqa: N802
        """How many calls were answered since the server started, by method."""
        return answered_calls()

    def getCounter(self, session: Session, key: str | None) -> int:  # noqa: N802
        """How many calls of one method were answered since the server started; 0 for an unknown method."""
        return answered_calls().get(key or "", 0)

    def getOptions(self, session: Session) -> dict[str, str]:  # noqa: N802
        """None: a caller can set none."""
        return {}

    def getOption(self, session: Session, key: str | None) -> str:  # noqa: N802
        """The server's time in epoch seconds for `now_seconds`; an empty text for any other option."""
        return f"{time.time():.3f}" if key == _NOW_SECONDS else ""

    def setOption(self, session: Session, key: str | None, value: str | None) -> None:  # noqa: N802
        """Refused: options of fb303 have no meaning here."""
        raise MetaError("options of fb303 have no meaning here, so none can be set")

    def getCpuProfile(self, session: Session, profileDurationInSec: int) -> str:  # noqa: N802
        """An empty text: no profile is taken."""
        return ""

    def reinitialize(self, session: Session) -> None:
        """No effect."""
