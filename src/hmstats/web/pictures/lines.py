"""A number over its versions: a line with a dot for each of them, and for bounds the band between two lines.

Versions stand at equal distances, since writes come in bursts. What is unknown interrupts the line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from hmstats.web.pictures import svg

_WIDTH = 300
_HEIGHT = 40
_MARGIN = 6
Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Line:
    """A number's values, oldest first; `low`: those of the lower edge of a band, whose upper edge is `values`."""

    name: str
    values: Values
    low: Values | None = None


def line_picture(says: str, line: Line) -> str:
    """The picture, which says this in words."""
    root = svg.picture(_WIDTH, _HEIGHT, says, "line")
    every = [each for each in (*line.values, *(line.low or ())) if each is not None]
    least, most = min(every, default=0.0), max(every, default=0.0)

    def point(place: int, value: float) -> tuple[float, float]:
        part = (value - least) / (most - least) if most > least else 0.5
        step = (_WIDTH - 2 * _MARGIN) / max(len(line.values) - 1, 1)
        return _MARGIN + place * step, _HEIGHT - _MARGIN - part * (_HEIGHT - 2 * _MARGIN)

    if line.low is not None:
        _band(root, line.values, line.low, point)
    for values in (line.values, *([] if line.low is None else [line.low])):
        points = [None if each is None else point(place, each) for place, each in enumerate(values)]
        for known, some in groupby(points, lambda each: each is not None):
            if known:
                path = "L".join(_text(each) for each in some if each is not None)
                SubElement(root, "path", {"d": f"M{path}", "class": "stroke"})
        dots = "".join(f"M{_text(each)}h0" for each in points if each is not None)
        SubElement(root, "path", {"d": dots, "class": "dots"})
    return svg.text(root)


def _band(root: Element, high: Values, low: Values, point: Callable[[int, float], tuple[float, float]]) -> None:
    known = [(place, up, down) for place, (up, down) in enumerate(zip(high, low, strict=True))]
    some = [(place, up, down) for place, up, down in known if up is not None and down is not None]
    if len(some) > 1:
        there = "L".join(_text(point(place, up)) for place, up, _ in some)
        back = "L".join(_text(point(place, down)) for place, _, down in reversed(some))
        SubElement(root, "path", {"d": f"M{there}L{back}z", "class": "band"})


def _text(point: tuple[float, float]) -> str:
    return f"{svg.short(point[0])} {svg.short(point[1])}"
