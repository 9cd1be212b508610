"""Chooses the preference in force: that of the column, else of the partition, table, database, everything.

If hmstats' preference and Hive's parameter state different things about one object, hmstats' counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.preferences import values
from hmstats.model.preferences.preference import EVERYTHING, SKIP, Preference, Subject
from hmstats.model.preferences.values import KINDS, GuardMode, Made
from hmstats.model.preferences.windows import Window


@dataclass(frozen=True, slots=True)
class Effective:
    """A preference that counts, and who stated it; None if nobody has, and the default counts."""

    name: str
    text: str
    stated: Preference | None = None

    @property
    def origin(self) -> str:
        """The object that stated it, for people."""
        if self.stated is None:
            return "default"
        return f"{SKIP} of {self.stated.subject}" if self.stated.of_hive else str(self.stated.subject)


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences in force for an object. `every_seconds` None: whenever there is a reason; no `window`: always."""

    statistics: Made
    automatic: bool
    every_seconds: int | None
    sample: float
    precision: int
    histogram: bool
    top_k: bool
    guard: GuardMode
    guard_factor: float
    publish: bool
    window: tuple[Window, ...]
    puffin_columns: str


@dataclass(frozen=True, slots=True)
class Stated:
    """All stated preferences that a caller has read, to be asked what counts for an object."""

    preferences: Sequence[Preference] = ()
    _by_subject: dict[Subject, list[Preference]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_subject: dict[Subject, list[Preference]] = {}
        for each in sorted(self.preferences, key=lambda each: each.of_hive):
            by_subject.setdefault(each.subject, []).append(each)
        object.__setattr__(self, "_by_subject", by_subject)

    def each_in_force(self, subject: Subject, hive: Parameters | None = None) -> list[Effective]:
        """Every preference that counts for an object, with its origin.

        `hive`: the object's own parameters, if known.
        """
        return [self.in_force(name, subject, hive) for name in KINDS]

    def in_force(self, name: str, subject: Subject, hive: Parameters | None = None) -> Effective:
        """A preference that counts for an object, with its origin. `hive`: the object's own parameters, if known."""
        for place in _outwards(subject):
            for each in self._by_subject.get(place, ()):
                if each.name == name:
                    return Effective(name, each.text, each)
            if name == values.AUTOMATIC and place == subject and hive is not None and is_skipped(hive):
                return Effective(name, "false", by_parameter(place))
        return Effective(name, KINDS[name].default)

    def is_automatic(self, subject: Subject, hive: Parameters | None = None) -> bool:
        """Whether automatic runs analyse an object. `hive`: its own parameters, if known."""
        return bool(values.parse_value(values.AUTOMATIC, self.in_force(values.AUTOMATIC, subject, hive).text))

    def of(self, subject: Subject, hive: Parameters | None = None) -> Preferences:
        """The preferences in force for an object. Raises InvalidInput for a text of a newer version."""
        text = {each.name: each.text for each in self.each_in_force(subject, hive)}
        read: dict[str, Any] = {name: values.parse_value(name, text[name]) for name in KINDS}
        return Preferences(every_seconds=read.pop(values.EVERY), **read)

    def columns_of(self, table: TableName) -> list[str]:
        """The columns of a table that have preferences of their own."""
        subjects = (each.subject for each in self.preferences)
        return list(dict.fromkeys(each.column for each in subjects if each.column and each.table_name == table))


def by_parameter(subject: Subject) -> Preference:
    """The preference that Hive's parameter states of an object."""
    return Preference(subject, values.AUTOMATIC, "false", of_hive=True)


def is_skipped(parameters: Parameters) -> bool:
    """Whether Hive's parameter keeps automatic analyses away."""
    return parameters.get(SKIP, "").lower() == "true"


def _outwards(subject: Subject) -> Iterable[Subject]:
    if subject.partition is not None or subject.column is not None:
        yield subject
    if subject.table is not None:
        yield Subject(subject.database, subject.table)
    if subject.database is not None:
        yield Subject(subject.database)
    yield EVERYTHING
