"""The setting of one of several upstreams: a table `[[upstreams]]` of the settings file."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field


class UpstreamSetting(BaseModel):
    """A metastore behind the gateway, and the databases that are its own. The one without `databases` has the rest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern="^[a-z0-9][a-z0-9_-]*$", max_length=64)
    uris: str
    database: str
    databases: tuple[str, ...] = ()


def check_upstreams(upstreams: Sequence[UpstreamSetting]) -> str | None:
    """The error of upstreams that contradict each other; None if they do not."""
    names = [each.name for each in upstreams]
    for place, each in enumerate(names):
        if each in names[:place]:
            return f"each upstream must have a name of its own, found {each} twice"
    defaults = [each.name for each in upstreams if not each.databases]
    if upstreams and len(defaults) != 1:
        found = ", ".join(defaults) or "none"
        return f"one upstream must have no databases, which is the default one, found {found}"
    return None
