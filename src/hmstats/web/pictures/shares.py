"""Parts of all rows side by side: frequent values, or true and false; then all other values, then nulls."""

from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.web.pictures import svg
from hmstats.web.pictures.svg import Bar
from hmstats.web.pictures.words import part_text, value_text

_HEIGHT = 100
_WIDTH = 300
_SHADES = 5


@dataclass(frozen=True, slots=True)
class Share:
    """A value and its part of all rows."""

    value: object
    part: float


def shares_picture(name: str, shares: Sequence[Share], nulls_part: float) -> str:
    """The picture of a column of this name; the parts together are 1 at most, other values are the rest."""
    told = ", ".join(f"{value_text(each.value, 24)} {part_text(each.part)}" for each in shares)
    nulls = f"; {part_text(nulls_part)} of the rows are null" if nulls_part else ""
    root = svg.picture(_WIDTH, _HEIGHT, f"{name}: {told}{nulls}", "shares")
    svg.bars(root, [Bar(0, 0, _WIDTH, _HEIGHT)], "rest")
    x = 0.0
    for place, share in enumerate(shares):
        width = share.part * _WIDTH
        svg.bars(root, [Bar(x, 0, max(width - 1, 0.5), _HEIGHT)], f"s{place % _SHADES}")
        x += width
    if nulls_part:
        svg.bars(root, [Bar(_WIDTH * (1 - nulls_part), 0, _WIDTH * nulls_part, _HEIGHT)], "null")
    return svg.text(root)


def count_picture(says: str, low: int, high: int, most: int) -> str:
    """How often a value occurs at least and at most, as parts of the most."""
    root = svg.picture(_WIDTH, 10, says, "count")
    whole = max(most, 1)
    svg.bars(root, [Bar(0, 0, max(_WIDTH * high / whole, 1), 10)], "band")
    svg.bars(root, [Bar(0, 0, max(_WIDTH * low / whole, 1), 10)], "bar")
    return svg.text(root)
