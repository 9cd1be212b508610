"""Windows of time: what their texts mean, at which times they are open, and until when."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput
from hmstats.model.preferences.windows import Window, closes_at, parse_windows, windows_text

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return MONDAY + timedelta(days=day, hours=hour, minutes=minute)


@pytest.mark.parametrize(
    ("text", "now", "end"),
    [
        ("01:00-05:00", at(0, 1), at(0, 5)),
        ("01:00-05:00", at(0, 5), None),
        ("22:00-04:00", at(0, 23), at(1, 4)),
        ("22:00-04:00", at(1, 3, 59), at(1, 4)),
        ("22:00-04:00", at(1, 4), None),
        ("Mon-Fri 22:00-04:00", at(5, 3), at(5, 4)),  # the night from Friday
        ("Mon-Fri 22:00-04:00", at(5, 23), None),
        ("Sat-Mon 06:00-02:00", at(0, 7), at(1, 2)),  # over the end of the week
        ("Sat-Mon 06:00-02:00", at(1, 7), None),
        ("00:00-00:00", at(3, 12), at(4, 0)),  # always
        ("01:00-05:00 Asia/Tokyo", at(0, 16), at(0, 20)),
        ("01:00-05:00, 03:00-07:00", at(0, 4), at(0, 7)),
    ],
)
def test_when_a_window_is_open(text: str, now: datetime, end: datetime | None) -> None:
    assert closes_at(parse_windows(text), now) == end


def test_a_window_follows_the_clock_of_its_zone_in_summer() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    window = parse_windows("01:00-05:00 Europe/Berlin")
    for month in (1, 7):
        inside = datetime(2026, month, 15, 1, 30, tzinfo=berlin)
        assert closes_at(window, inside.astimezone(UTC)) == datetime(2026, month, 15, 5, tzinfo=berlin)


@pytest.mark.parametrize("text", ["", "1-5", "24:00-01:00", "Foo 01:00-02:00", "01:00-02:00 Mars/Base", "01:00-02:00,"])
def test_what_is_no_window(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_windows(text)


@given(
    st.builds(
        lambda start, end, first, count, zone: Window(
            start.replace(second=0, microsecond=0),
            end.replace(second=0, microsecond=0),
            frozenset((first + each) % 7 for each in range(count)),
            zone,
        ),
        st.times(),
        st.times(),
        st.integers(0, 6),
        st.integers(1, 7),
        st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
    )
)
def test_its_text_means_the_window(window: Window) -> None:
    assert parse_windows(windows_text([window])) == (window,)
