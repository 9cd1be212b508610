"""How long a run took, as a short bar beside the longest."""

from hmstats.web.pictures import svg
from hmstats.web.pictures.svg import Bar


def duration_picture(seconds: float, longest_seconds: float, *, failed: bool) -> str:
    """The picture of a run; one that did not end well is drawn in another colour."""
    root = svg.picture(100, 8, f"{seconds:,.1f} of {longest_seconds:,.1f} seconds", "health-bar")
    svg.bars(root, [Bar(0, 0, 100, 8)], "all")
    width = max(100 * seconds / longest_seconds, 1) if longest_seconds > 0 else 1
    svg.bars(root, [Bar(0, 0, width, 8)], "low" if failed else "bar")
    return svg.text(root)
