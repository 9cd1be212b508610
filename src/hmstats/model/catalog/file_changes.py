"""Changes of directories that belong to a change of the catalog, as rows describe them until they are finished."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self

from hmstats.model.catalog.location import near


class Kind(StrEnum):
    """The kind of a change, which decides how it is recovered if its server is killed.

    PLANNED: nothing was done yet. RENAME and COPY are undone: the commit of the catalog deletes or changes their row.
    REMOVE and TRUNCATE are finished.
    """

    PLANNED = "planned"
    RENAME = "rename"
    COPY = "copy"
    REMOVE = "remove"
    TRUNCATE = "truncate"


class Move(NamedTuple):
    """The source and target of a directory's move; `subject` names the moved object in errors and logs."""

    subject: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Removal:
    """Directories of dropped objects, which are removed.

    Of the `keys - 1` directories above each, empty ones `within` another are removed too. `table_id` is the table of
    dropped partitions, None for whole tables and databases. `moved`: their content was copied elsewhere, so nothing
    around them is touched.
    """

    locations: tuple[str, ...]
    purge: bool = False
    keys: int = 1
    within: str | None = None
    table_id: int | None = None
    moved: bool = False

    @classmethod
    def of(cls, details: dict[str, Any]) -> Self:
        """Parse the removal in a row's details."""
        return cls(**{**details, "locations": tuple(details["locations"])})


@dataclass(frozen=True, slots=True)
class Truncated:
    """A table that becomes empty, or the partitions of these names.

    `version` is the table's when the truncation began; None if unknown. Another one later means that somebody has
    written to the table since.
    """

    table_id: int
    names: tuple[str, ...] | None
    version: int | None = None

    @classmethod
    def of(cls, details: dict[str, Any]) -> Self:
        """Parse the truncation in a row's details."""
        names = details["names"]
        return cls(details["table_id"], None if names is None else tuple(names), details.get("version"))


@dataclass(frozen=True, slots=True)
class Renamed:
    """The identity of a renamed directory, on file systems that have one (files/moves.py)."""

    identity: str | None = None


Details = Removal | Truncated | Renamed


@dataclass(frozen=True, slots=True)
class FileChange:
    """An unfinished change. `owner` is the process that makes it; `places` are its directories.

    The places of a move are its source and its target.
    """

    id: int
    owner: int
    kind: Kind
    subject: str
    places: tuple[str, ...]
    details: Details = Renamed()

    def reached(self, locations: Sequence[str]) -> list[str]:
        """The locations whose files the change may remove or overwrite if they are written from now on.

        The source of a move does not count: files that are written there move too. Nor does a truncation: it empties
        the directories that the table had when it began.
        """
        if isinstance(self.details, Truncated):
            return []
        return near(self.details.locations if isinstance(self.details, Removal) else self.places[1:], locations)

    def is_near(self, locations: Sequence[str]) -> bool:
        """Whether one of the locations equals, contains or is inside of one of the places."""
        return bool(near(self.places, locations))

    def places_text(self) -> str:
        """The places as the text in a row."""
        return json.dumps(self.places)

    def details_text(self) -> str:
        """The details as the text in a row."""
        return json.dumps(asdict(self.details))


def details_of(kind: Kind, text: str) -> Details:
    """Parse the details in a row."""
    read = json.loads(text)
    if kind is Kind.REMOVE:
        return Removal.of(read)
    return Truncated.of(read) if kind is Kind.TRUNCATE else Renamed(**read)
