"""Windows of time in which automatic analyses may run: `22:00-04:00`, `Sat-Sun 06:00-02:00 Europe/Berlin`.

A window begins on each of its days (every day unless days are named) and may go past midnight. Without a zone its
times are UTC. Several windows are separated by commas.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from hmstats.errors import InvalidInput

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FORM = re.compile(
    r"(?:(?P<first>[A-Za-z]{3})(?:-(?P<last>[A-Za-z]{3}))?\s+)?"
    r"(?P<start>\d{1,2}:\d\d)-(?P<end>\d{1,2}:\d\d)(?:\s+(?P<zone>[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)*))?"
)
_EXAMPLE = "such as 22:00-04:00, or Mon-Fri 22:00-04:00 Europe/Berlin"


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time on some days of the week (0: Monday), in the time of a zone; `end` may be on the next day."""

    start: time
    end: time
    days: frozenset[int] = frozenset(range(7))
    zone: str = "UTC"

    def closes_at(self, now: datetime) -> datetime | None:
        """The end of the window that is open at a time with a zone; None if none is."""
        zone = ZoneInfo(self.zone)
        local = now.astimezone(zone)
        for day in (local.date() - timedelta(days=1), local.date()):
            begin = datetime.combine(day, self.start, zone)
            end = datetime.combine(day if self.start < self.end else day + timedelta(days=1), self.end, zone)
            if day.weekday() in self.days and begin <= local < end:
                return end
        return None

    def __str__(self) -> str:
        span = f"{self.start:%H:%M}-{self.end:%H:%M}"
        zone = "" if self.zone == "UTC" else f" {self.zone}"
        return f"{_days_text(self.days)}{span}{zone}"


def parse_windows(text: str) -> tuple[Window, ...]:
    """The windows in a text. Raises InvalidInput."""
    return tuple(_parse_window(each.strip()) for each in text.split(","))


def windows_text(windows: Sequence[Window]) -> str:
    """The text that `parse_windows` reads."""
    return ", ".join(map(str, windows))


def closes_at(windows: Sequence[Window], now: datetime) -> datetime | None:
    """The latest end of the windows that are open at a time with a zone; None if none is."""
    return max((end for each in windows if (end := each.closes_at(now)) is not None), default=None)


def _parse_window(text: str) -> Window:
    found = _FORM.fullmatch(text)
    if found is None:
        raise InvalidInput(f"a window must be [DAYS] START-END [ZONE], {_EXAMPLE}; found {text!r}")
    start, end = (_time(found[each], text) for each in ("start", "end"))
    days = frozenset(range(7)) if found["first"] is None else _days(found["first"], found["last"], text)
    zone = found["zone"] or "UTC"
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidInput(f"the zone of a window must be known, {_EXAMPLE}; found {zone!r}") from error
    return Window(start, end, days, zone)


def _time(text: str, window: str) -> time:
    hours, minutes = map(int, text.split(":"))
    if hours > 23 or minutes > 59:
        raise InvalidInput(f"the times of a window must be from 00:00 to 23:59, found {window!r}")
    return time(hours, minutes)


def _days(first: str, last: str | None, window: str) -> frozenset[int]:
    names = [first.capitalize(), (last or first).capitalize()]
    if not all(each in DAYS for each in names):
        raise InvalidInput(f"the days of a window must be among {', '.join(DAYS)}, found {window!r}")
    begin, end = map(DAYS.index, names)
    return frozenset((begin + each) % 7 for each in range((end - begin) % 7 + 1))


def _days_text(days: frozenset[int]) -> str:
    if len(days) == 7:
        return ""
    begin = next(each for each in sorted(days) if (each - 1) % 7 not in days)
    last = DAYS[(begin + len(days) - 1) % 7]
    return f"{DAYS[begin]} " if len(days) == 1 else f"{DAYS[begin]}-{last} "
