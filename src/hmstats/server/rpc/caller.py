"""What is known about a client during its connection."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from hmstats.model.access.principal import Principal


@dataclass(slots=True)
class Session:
    """One connection's client. A connection has one call at a time, so calls may write here.

    A client is Spark if its user or one of its groups is in `spark_names`.
    """

    connection_id: int
    peer: str
    """Address and port of the client."""
    spark_names: Collection[str] = frozenset()
    user: str | None = None
    """The user that the client names (set_ugi, or a header of its HTTP request)."""
    groups: tuple[str, ...] = ()
    is_spark: bool = False
    """Whether the client is Spark, which may get other answers than the rest."""
    settings: dict[str, str] = field(default_factory=dict)
    """The settings that the client has set with setMetaConf."""
    principal: Principal | None = None
    """The authenticated user; None where nothing is authenticated, so that `user` is what the client says."""
    rights: Any = None
    """What the user may do, as the guard of access/ has last looked it up."""
    statistics_only: bool = False
    """Whether the running call may change nothing but statistics."""

    def identify(self, user: str | None, groups: tuple[str, ...] = ()) -> None:
        """Store the user and groups that the client names; an authenticated user stays who it is."""
        if self.principal is not None:
            return
        self._store(user, groups)

    def authenticate(self, principal: Principal | None) -> None:
        """Store the user that a layer or a request has proven, or forget it."""
        self.principal = principal
        if principal is None:
            self._store(None, ())
        else:
            self._store(principal.user, principal.groups)

    def _store(self, user: str | None, groups: tuple[str, ...]) -> None:
        self.user, self.groups = user, groups
        self.is_spark = any(name in self.spark_names for name in (user, *groups))
