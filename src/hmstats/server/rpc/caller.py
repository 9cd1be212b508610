"""The session of a client: what is known about it during its connection."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from random import random
from typing import Any

from hmstats.model.access.actions import Action
from hmstats.model.access.principal import Principal
from hmstats.model.catalog.objects import TableName
from hmstats.model.pending.canary import NOBODY, Canary

CANARY = "hmstats.canary"
"""The setting of a connection by which its client becomes a canary, or none."""


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
    canary: Canary = NOBODY
    is_canary: bool = False
    """Whether the client plans with pending statistics."""
    drawn: float = field(default_factory=random)
    """A random number, by which connections become canaries."""
    statistics_only: bool = False
    """Whether the running call may change nothing but statistics."""

    def __post_init__(self) -> None:
        self.look_for_canary()

    def identify(self, user: str | None, groups: tuple[str, ...] = ()) -> None:
        """Store the user and groups that the client names; an authenticated user stays who it is."""
        if self.principal is not None:
            return
        self._store(user, groups)

    def authenticate(self, principal: Principal | None) -> None:
        """Store the user that a layer or a request has proven, or forget it; another has settings of its own."""
        if self.principal is not None and (principal is None or principal.user != self.principal.user):
            self.settings.clear()
        self.principal = principal
        if principal is None:
            self._store(None, ())
        else:
            self._store(principal.user, principal.groups)

    def _store(self, user: str | None, groups: tuple[str, ...]) -> None:
        self.user, self.groups = user, groups
        self.is_spark = any(name in self.spark_names for name in (user, *groups))
        self.look_for_canary()

    def may_read_statistics(self, table: TableName) -> bool:
        """Whether the user may read a table's statistics, by the access rules if there are any."""
        name = (table.catalog, table.database, table.table)
        return self.rights is None or bool(self.rights.rights.sees(Action.READ_STATISTICS, name))

    def look_for_canary(self) -> None:
        """Decide whether the client is a canary: by its own choice (setMetaConf), else by the server's setting."""
        chosen = self.settings.get(CANARY)
        if chosen is not None:
            self.is_canary = chosen.lower() == "true"
            return
        if self.canary is NOBODY:
            self.is_canary = False
            return
        names = [each for each in (self.user, *self.groups) if each is not None]
        address = self.peer.rpartition(":")[0]
        self.is_canary = self.canary.takes(names, address, self.drawn, time.time())
