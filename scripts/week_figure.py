"""The figure of docs/collect/refresh.md: lines of the share of good table-hours by budget, as an SVG."""

from collections.abc import Mapping, Sequence
from math import log10

_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 540, 40, 300
_COLOURS = ("#1f77b4", "#2ca02c", "#9467bd", "#d62728", "#8c564b")
_LEAST, _MOST = 0.6, 1.0
"""The shares at the lower and at the upper end."""
_LINE_HEIGHT = 18


def draw(budgets: Sequence[float], shares: Mapping[str, Sequence[float]]) -> str:
    """An SVG with a line for each name, over budgets as parts of what all tables cost once a night."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 350" font-family="sans-serif" font-size="13">',
        '<rect width="760" height="350" fill="white"/>',
        f'<text x="{_LEFT}" y="22">Table-hours of a week with a health above 80, by the budget</text>',
        *_axis_of_shares(),
        *(f'<text x="{_x(each, budgets):.0f}" y="322" text-anchor="middle">{each:.0%}</text>' for each in budgets),
        f'<text x="{_LEFT}" y="342">budget, of the cost of analysing every table every night</text>',
        *_lines(budgets, shares),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axis_of_shares() -> list[str]:
    found = []
    for tenths in range(int(_LEAST * 10), int(_MOST * 10) + 1):
        y = _y(tenths / 10)
        found.append(f'<path d="M{_LEFT} {y:.0f}H{_RIGHT}" stroke="#ddd"/>')
        found.append(f'<text x="{_LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{tenths * 10} %</text>')
    return found


def _lines(budgets: Sequence[float], shares: Mapping[str, Sequence[float]]) -> list[str]:
    """The lines, each with its name at its end, no name over another."""
    places = _places({name: _y(values[-1]) + 4 for name, values in shares.items()})
    found = []
    for (name, values), colour in zip(shares.items(), _COLOURS, strict=False):
        points = " ".join(
            f"{_x(budget, budgets):.0f},{_y(value):.1f}" for budget, value in zip(budgets, values, strict=True)
        )
        found.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        found.append(f'<text x="{_RIGHT + 12}" y="{places[name]:.0f}" fill="{colour}">{name}</text>')
    return found


def _places(wanted: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    lowest = 0.0
    for name, y in sorted(wanted.items(), key=lambda each: each[1]):
        found[name] = lowest = max(y, lowest + _LINE_HEIGHT)
    return found


def _x(budget: float, budgets: Sequence[float]) -> float:
    part = (log10(budget) - log10(budgets[0])) / (log10(budgets[-1]) - log10(budgets[0]))
    return _LEFT + part * (_RIGHT - _LEFT)


def _y(share: float) -> float:
    part = (max(share, _LEAST) - _LEAST) / (_MOST - _LEAST)
    return _BOTTOM - part * (_BOTTOM - _TOP)
