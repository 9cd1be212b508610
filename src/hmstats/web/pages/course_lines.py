"""The lines of a history page: each a number over its versions, with its first and last value as texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.history import Course, Moment
from hmstats.web.answers.numbers import Number
from hmstats.web.pages.texts import UNKNOWN, number_text, size_text, time_text
from hmstats.web.pictures.lines import Line, Values, line_picture
from hmstats.web.pictures.words import value_text


@dataclass(frozen=True, slots=True)
class CourseLine:
    """A line with its name, and its first and last value."""

    name: str
    picture: Markup
    first: str
    last: str


def course_lines(course: Course) -> list[CourseLine]:
    """The lines of the numbers that are known at one moment at least."""
    found = [_counts(course, "Rows", lambda each: each.rows, number_text)]
    found.append(_counts(course, "Size", lambda each: each.size_bytes, size_text))
    if course.column is not None:
        found.append(_counts(course, "Nulls", _of_column(lambda column: column.nulls), number_text))
        found.append(_counts(course, "Distinct", _of_column(lambda column: column.distinct), number_text))
        found.append(_counts(course, "Greatest length", _of_column(lambda column: column.greatest_length), number_text))
        found.append(_bounds(course))
    return [each for each in found if each is not None]


def _of_column(number: Callable[[ColumnFacts], Number | None]) -> Callable[[Moment], Number | None]:
    return lambda each: None if each.column is None else number(each.column)


def _counts(
    course: Course, name: str, number: Callable[[Moment], Number | None], text: Callable[[int | None], str]
) -> CourseLine | None:
    numbers = [number(each) for each in course.moments]
    values = [None if each is None else int(each.value) for each in numbers]
    return _line(course, Line(name, values), [text(each) for each in values])


def _bounds(course: Course) -> CourseLine | None:
    """Least and greatest value, if they are numbers."""
    columns = [each.column for each in course.moments]
    lows = [None if each is None or each.least is None else each.least.value for each in columns]
    highs = [None if each is None or each.greatest is None else each.greatest.value for each in columns]
    if any(isinstance(each, str | bool) for each in (*lows, *highs)):
        return None
    texts = [
        UNKNOWN if low is None or high is None else f"{value_text(low)} to {value_text(high)}"
        for low, high in zip(lows, highs, strict=True)
    ]
    return _line(course, Line("Least to greatest", _floats(highs), _floats(lows)), texts)


def _floats(values: Sequence[object]) -> Values:
    return [float(each) if isinstance(each, int | float) else None for each in values]


def _line(course: Course, line: Line, texts: Sequence[str]) -> CourseLine | None:
    known = [place for place, each in enumerate(line.values) if each is not None]
    if not known:
        return None
    first, last = texts[known[0]], texts[known[-1]]
    times = [time_text(course.moments[place].at) for place in (known[0], known[-1])]
    says = f"{line.name}: {first} at {times[0]}, {last} at {times[1]}, in {len(known)} versions"
    return CourseLine(line.name, Markup(line_picture(says, line)), first, last)  # pictures.svg has escaped it
