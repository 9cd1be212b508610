"""What is known about a client during its connection."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Session:
    """One connection's client. A connection has one call at a time, so calls may write here."""

    connection_id: int
    peer: str
    """Address and port of the client."""
    user: str | None = None
    """Who the client says it is (set_ugi)."""
    groups: tuple[str, ...] = ()
    is_spark: bool = False
    """Whether that is Spark (rpc/session.py): it may see other answers than the rest."""
    settings: dict[str, str] = field(default_factory=dict)
    """What the client set with setMetaConf."""
