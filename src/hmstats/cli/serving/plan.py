"""The settings of the parent, sent to it when database and settings have been checked."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of the parent, most under the names that they have in hmstats.settings."""

    host: str
    port: int
    http_port: int | None
    ready_needs_database: bool
    ready_needs_upstreams: bool
    upstreams: dict[str, list[str]]
    """The addresses of each upstream by its name in sentences."""
    http_page: bool
    page_over_tls: bool
    """Whether the page is reached by https."""
    workers: int
    alone: bool
    """Whether no two workers may run at once, not even an old and a new one."""
    drain_seconds: float
    log_level: str

    def to_text(self) -> str:
        """The plan as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Plan":
        """Parse what `to_text` made."""
        return cls(**json.loads(text))
