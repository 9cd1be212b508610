"""Health as a short bar: the part of it that is left."""

from hmstats.web.pictures import svg
from hmstats.web.pictures.svg import Bar


def health_picture(health: int) -> str:
    """The picture of a health from 0 to 100."""
    root = svg.picture(100, 8, f"health {health} of 100", "health-bar")
    svg.bars(root, [Bar(0, 0, 100, 8)], "all")
    svg.bars(root, [Bar(0, 0, health, 8)], "bar" if health >= 50 else "low")
    return svg.text(root)
