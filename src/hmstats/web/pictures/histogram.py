"""Bars of a histogram, each with the band in which its height may be off, and beside them a bar of nulls.

A bar is solid up to the least that its bin may hold, lighter up to the estimate, and pale up to the most. All bars have
one scale, the fullest bin. The bar of nulls has its own: its full height is all rows.
"""

from hmstats.web.answers.columns import Histogram
from hmstats.web.pictures import svg
from hmstats.web.pictures.svg import Bar
from hmstats.web.pictures.words import part_text, value_text

_HEIGHT = 100
_WIDTH = 300
_NULLS_WIDTH = 8
_GAP = 0.12
"""The part of a bin's width that stays empty."""
_LEAST_SEEN = 0.015
"""The part of the full height that a bar has at least, so that it can be seen."""


def histogram_picture(name: str, found: Histogram, nulls_part: float | None) -> str:
    """The picture of a column of this name; `nulls_part` is the part of the rows that are null, None if unknown."""
    root = svg.picture(_WIDTH, _HEIGHT, _description(name, found, nulls_part), "histogram")
    off = found.bin_error * found.values
    most = max(max(found.counts) + off, 1.0)
    width = (_WIDTH - (2 * _NULLS_WIDTH if nulls_part else 0)) / len(found.counts)
    every = [(place, count / most) for place, count in enumerate(found.counts)]
    parts = [(place, part) for place, part in every if part]
    heights = {
        "band": [(place, part + off / most) for place, part in every if off],
        "unsure": [(place, max(part, _LEAST_SEEN)) for place, part in parts if off],
        "bar": [(place, max(part - off / most, _LEAST_SEEN)) for place, part in parts],
    }
    for kind, some in heights.items():
        svg.bars(root, (_rise((place + _GAP / 2) * width, width * (1 - _GAP), high) for place, high in some), kind)
    if nulls_part:
        svg.bars(root, [_rise(_WIDTH - _NULLS_WIDTH, _NULLS_WIDTH, 1)], "all")
        svg.bars(root, [_rise(_WIDTH - _NULLS_WIDTH, _NULLS_WIDTH, max(nulls_part, 0.02))], "null")
    return svg.text(root)


def bin_text(found: Histogram, place: int) -> str:
    """The values of a bin."""
    low, high = value_text(found.edges[place]), value_text(found.edges[place + 1])
    return low if found.single else f"{low} to {high}"


def ticks(found: Histogram) -> list[str]:
    """Values at equal distances below the bars, from the first to the last edge; of single values the bins' own."""
    if found.single:
        names = [value_text(each) for each in found.edges[:-1]]
        return names if len(names) <= 12 else [names[0], names[-1]]
    bins = len(found.counts)
    steps = next((each for each in (5, 4, 3, 2) if bins % each == 0), 1)
    return [value_text(found.edges[each * bins // steps]) for each in range(steps + 1)]


def _rise(x: float, width: float, part: float) -> Bar:
    """A bar that rises to a part of the full height."""
    return Bar(x, _HEIGHT * (1 - part), width, _HEIGHT * part)


def _description(name: str, found: Histogram, nulls_part: float | None) -> str:
    fullest = max(range(len(found.counts)), key=lambda place: found.counts[place])
    part = found.counts[fullest] / found.values if found.values else 0
    off = f", give or take {part_text(found.bin_error)} of the values" if found.bin_error else ""
    nulls = f"; {part_text(nulls_part)} of the rows are null" if nulls_part else ""
    last = found.edges[-2] if found.single else found.edges[-1]
    return (
        f"{name}: {found.values:,} values from {value_text(found.edges[0])} to {value_text(last)}; "
        f"the fullest of {len(found.counts)} bins is {bin_text(found, fullest)} with {part_text(part)}{off}{nulls}"
    )
