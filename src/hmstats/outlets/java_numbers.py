"""Texts of doubles as Java writes them (java.lang.Double.toString), as Hive and Spark read and write them."""

from decimal import Decimal

_JAVA_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_LEAST_POWER, _PLAIN_POWER = -3, 7
"""Powers of ten from which, and below which, a number is written without an exponent."""


def double_text(python_text: str) -> str:
    """Java's text of a float, given as Python writes it: 1.0E10, but 0.001 and 1234567.0."""
    if python_text in _JAVA_NAMES:
        return _JAVA_NAMES[python_text]
    value = Decimal(python_text)
    sign, digits, _ = value.normalize().as_tuple()
    power = value.adjusted() if value else 0
    if _LEAST_POWER <= power < _PLAIN_POWER:
        text = f"{abs(value.normalize()):f}"
        return "-" * sign + (text if "." in text else f"{text}.0")
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{power}"
