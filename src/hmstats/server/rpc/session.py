"""Session calls: who the caller is, and what fb303 asks of every Thrift service."""

import time
from collections.abc import Collection

from hmstats import __version__
from hmstats.errors import MetaError
from hmstats.server.metrics import answered_calls
from hmstats.server.session import Session

_ALIVE = 2
"""fb_status ALIVE."""


class SessionCalls:
    """set_ugi and the calls inherited from fb303.

    A client whose user, or one of whose groups, has one of the names in `spark` is Spark.
    """

    def __init__(self, spark: Collection[str] = ()) -> None:
        self._started_seconds = int(time.time())
        self._spark = frozenset(spark)

    def set_ugi(self, session: Session, user_name: str | None, group_names: list[str] | None) -> list[str]:
        """Remember who calls; the groups come back, as in Hive."""
        session.user = user_name
        session.groups = tuple(group_names or ())
        session.is_spark = not self._spark.isdisjoint((user_name, *session.groups))
        return list(session.groups)

    def shutdown(self, session: Session) -> None:
        """What Hive's clients call when they close; the server goes on."""

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
        """Nothing more to say."""
        return ""

    def aliveSince(self, session: Session) -> int:  # noqa: N802
        """When the server started, in epoch seconds."""
        return self._started_seconds

    def getCounters(self, session: Session) -> dict[str, int]:  # noqa: N802
        """How many calls were answered since the server started, by method."""
        return answered_calls()

    def getCounter(self, session: Session, key: str | None) -> int:  # noqa: N802
        """The same of one method."""
        return answered_calls().get(key or "", 0)

    def getOptions(self, session: Session) -> dict[str, str]:  # noqa: N802
        """None: a caller can set none."""
        return {}

    def getOption(self, session: Session, key: str | None) -> str:  # noqa: N802
        """No option has a value here."""
        return ""

    def setOption(self, session: Session, key: str | None, value: str | None) -> None:  # noqa: N802
        """Refused: options of fb303 have no meaning here."""
        raise MetaError("options of fb303 have no meaning here, so none can be set")

    def getCpuProfile(self, session: Session, profileDurationInSec: int) -> str:  # noqa: N802
        """Nothing: no profile is taken for a caller."""
        return ""

    def reinitialize(self, session: Session) -> None:
        """Nothing: the server goes on as it is."""
