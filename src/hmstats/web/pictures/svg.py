"""SVG elements. Names and values from outside are escaped by the standard library's writer of XML."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle whose upper left corner is at x, y."""

    x: float
    y: float
    width: float
    height: float


def picture(width: int, height: int, says: str, kind: str) -> Element:
    """An empty picture of this size in its own units, which says in words what it shows."""
    root = Element(
        "svg",
        {
            "viewBox": f"0 0 {width} {height}",
            "preserveAspectRatio": "none",
            "class": f"picture {kind}",
            "role": "img",
            "aria-label": says,
        },
    )
    SubElement(root, "title").text = says
    return root


def bars(parent: Element, found: Iterable[Bar], kind: str) -> None:
    """Bars of one colour, as one path."""
    path = "".join(
        f"M{short(each.x)} {short(each.y)}h{short(each.width)}v{short(each.height)}h{short(-each.width)}z"
        for each in found
        if each.width > 0 and each.height > 0
    )
    if path:
        SubElement(parent, "path", {"d": path, "class": kind})


def short(number: float) -> str:
    """A number with one digit after the point, which is a tenth of a pixel or less."""
    return f"{number:.1f}".removesuffix(".0")


def text(root: Element) -> str:
    """The picture as it stands in a page."""
    return tostring(root, encoding="unicode")
